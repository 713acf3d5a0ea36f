print("xferctl")
