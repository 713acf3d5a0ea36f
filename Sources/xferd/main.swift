print("xferd")
