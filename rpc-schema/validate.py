#!/usr/bin/python3
"""Checks rpc-schema/openrpc.json, and recorded messages against it.

    validate.py [--document FILE] [--meta-schema FILE] [--transcript FILE …]

Without --transcript: the document against OpenRPC 1.3's rules (openrpc-1.3.schema.json beside this script, or the
meta-schema that is named), every schema in it against JSON Schema draft 7, and every example against its schemas.

With --transcript: each line of FILE, {"direction": "request" | "response" | "notification", "method": "…",
"message": {…}, "connection": …}. Results and events may have no field that the document does not know, although
clients have to bear them. A request may break the document if it was answered by an error.

Exit status: 0 valid, 1 not (one line each on standard output), 2 not run. Needs Debian's python3-jsonschema.
"""

import argparse
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("validate.py needs jsonschema: apt-get install python3-jsonschema", file=sys.stderr)
    sys.exit(2)

HERE = pathlib.Path(__file__).resolve().parent


class Document:
    """An OpenRPC document with validators for its parts."""

    def __init__(self, value):
        self.value = value
        self.methods = {method["name"]: method for method in value["methods"]}
        self.components = closed(value["components"])
        self.codes = {error["code"] for error in value["components"]["errors"].values()}
        self.validators = {}

    def problems(self, instance, schema, where):
        """What is wrong with `instance`, one line each."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            whole = {"allOf": [closed(schema)], "components": self.components}
            self.validators[key] = jsonschema.Draft7Validator(whole)
        for error in self.validators[key].iter_errors(instance):
            yield f"{where}: {'/'.join(map(str, error.absolute_path)) or 'value'}: {detail(error)}"


def detail(error):
    """The message of the most telling of the errors behind `error`: the one that lies deepest."""
    deepest = error
    while deepest.context:
        deepest = max(deepest.context, key=lambda inner: len(inner.absolute_path))
    if deepest is error:
        return shortened(error.message)
    where = "/".join(map(str, deepest.absolute_path))
    return f"{shortened(error.message)} ({where}: {shortened(deepest.message)})"


def shortened(text):
    return text if len(text) <= 120 else text[:120] + " …"


def closed(schema):
    """The schema with every object refusing properties it does not name."""
    schema = copy.deepcopy(schema)

    def close(node):
        if isinstance(node, dict):
            if node.get("type") == "object" and "properties" in node and "additionalProperties" not in node:
                node["additionalProperties"] = False
            for value in node.values():
                close(value)
        elif isinstance(node, list):
            for value in node:
                close(value)

    close(schema)
    return schema


# The document itself


def document_problems(document, meta_schema):
    found = list(meta_problems(document, meta_schema))
    yield from found
    if found:
        # The rest would stumble over what is missing.
        return
    for name, schema in schemas_of(document):
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            yield f"{name}: no JSON Schema: {error.message}"
    whole = Document(document)
    names = [method["name"] for method in document["methods"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: listed twice"
    for method in document["methods"]:
        yield from example_problems(whole, method)


def meta_problems(document, meta_schema):
    # References elsewhere are to JSON Schema's own schema: check_schema does that without fetching anything.
    meta_schema = json.loads(json.dumps(meta_schema))

    def cut(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str) and "://" in node["$ref"]:
                node.clear()
            for value in node.values():
                cut(value)
        elif isinstance(node, list):
            for value in node:
                cut(value)

    cut(meta_schema)
    for key in ("$schema", "$id"):
        meta_schema.pop(key, None)
    # A stand-in in the source of the published meta-schema.
    version = meta_schema.get("properties", {}).get("openrpc", {})
    if "GENERATED" in str(version.get("enum", "")):
        version.pop("enum")
    for error in jsonschema.Draft7Validator(meta_schema).iter_errors(document):
        yield f"OpenRPC: {'/'.join(map(str, error.absolute_path)) or 'document'}: {detail(error)}"


def schemas_of(document):
    for name, schema in document["components"]["schemas"].items():
        yield f"components/schemas/{name}", schema
    for method in document["methods"]:
        for parameter in method["params"]:
            yield f"{method['name']}/{parameter['name']}", parameter["schema"]
        yield f"{method['name']}/result", method["result"]["schema"]


def example_problems(document, method):
    name = method["name"]
    if not method.get("examples"):
        yield f"{name}: has no example"
    parameters = {parameter["name"]: parameter for parameter in method["params"]}
    for example in method.get("examples", []):
        where = f"{name}: example \"{example['name']}\""
        params = {param["name"]: param["value"] for param in example["params"]}
        yield from document.problems(params, method["x-params-schema"], f"{where}: params")
        for key, value in params.items():
            if key not in parameters:
                yield f"{where}: params: {key} is not listed"
            else:
                yield from document.problems(value, parameters[key]["schema"], f"{where}: {key}")
        for key, parameter in parameters.items():
            if parameter["required"] and key not in params:
                yield f"{where}: params: {key} is missing"
        yield from document.problems(example["result"]["value"], method["result"]["schema"], f"{where}: result")


# Recorded messages


def transcript_problems(document, lines):
    """Requests that break the document wait here for the error that has to answer them."""
    suspects = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            record = json.loads(line)
            direction, method, message = record["direction"], record["method"], record["message"]
        except (ValueError, KeyError, TypeError) as error:
            yield f"{where}: no record: {error!r}"
            continue
        key = json.dumps([record.get("connection"), message.get("id")])
        if direction == "request":
            found = list(request_problems(document, method, message, where))
            if found:
                suspects[key] = found
        elif direction == "response":
            found = suspects.pop(key, [])
            if "error" not in message:
                yield from found
            yield from response_problems(document, method, message, where)
        elif direction == "notification":
            yield from notification_problems(document, method, message, where)
        else:
            yield f"{where}: unknown direction {direction!r}"


def request_problems(document, name, message, where):
    method = document.methods.get(name)
    if method is None:
        yield f"{where}: there is no method {name}"
        return
    yield from document.problems(message.get("params", {}), method["x-params-schema"], f"{where}: {name}: params")


def response_problems(document, name, message, where):
    if message.get("jsonrpc") != "2.0":
        yield f"{where}: not marked as JSON-RPC 2.0"
    if ("result" in message) == ("error" in message):
        yield f"{where}: {name}: has to have either result or error"
    elif "error" in message:
        yield from error_problems(document, message["error"], f"{where}: {name}")
    elif name == "rpc.discover":
        if message["result"] != document.value:
            yield f"{where}: rpc.discover answers another document"
    elif name not in document.methods:
        yield f"{where}: there is no method {name}"
    else:
        yield from document.problems(
            message["result"], document.methods[name]["result"]["schema"], f"{where}: {name}: result")


def error_problems(document, error, where):
    yield from document.problems(error, {"$ref": "#/components/schemas/Error"}, f"{where}: error")
    if isinstance(error, dict) and error.get("code") not in document.codes:
        yield f"{where}: code {error.get('code')} is not listed"


def notification_problems(document, name, message, where):
    events = document.value["x-events"]
    if name != events["notification"]:
        yield f"{where}: there is no notification {name}"
        return
    params = message.get("params", {})
    # The schema of the event's own type says more than "none of nineteen fits".
    for event in events["types"]:
        if isinstance(params, dict) and event["name"] == params.get("type"):
            yield from document.problems(params, event["schema"], f"{where}: {event['name']}")
            return
    yield f"{where}: there is no event {params.get('type') if isinstance(params, dict) else params!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--document", type=pathlib.Path, default=HERE / "openrpc.json")
    parser.add_argument("--meta-schema", type=pathlib.Path, default=HERE / "openrpc-1.3.schema.json")
    parser.add_argument("--transcript", type=pathlib.Path, action="append", default=[])
    arguments = parser.parse_args()
    try:
        document = json.loads(arguments.document.read_text())
        meta_schema = json.loads(arguments.meta_schema.read_text())
        transcripts = [(path, path.read_text().splitlines()) for path in arguments.transcript]
    except (OSError, ValueError) as error:
        print(f"validate.py: {error}", file=sys.stderr)
        return 2

    problems = list(document_problems(document, meta_schema)) if not transcripts else []
    # One for all: what its validators need takes longer to make than a transcript to check.
    whole = Document(document)
    for path, lines in transcripts:
        problems += [f"{path}: {problem}" for problem in transcript_problems(whole, lines)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
