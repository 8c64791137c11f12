"""The custom resource that tests share: Widget, with most of what a CRD can declare."""

from .api import register_kind
from .objects import crd

GROUP = "clients.example.com"
RESOURCE = f"widgets.{GROUP}"

SPEC = {
    "type": "object",
    "description": "What the widget should be.",
    "properties": {
        "replicas": {"type": "integer", "default": 1, "minimum": 0, "maximum": 10,
                     "description": "How many of it there should be."},
        "mode": {"type": "string", "enum": ["a", "b"], "description": "How it works."},
        "size": {"type": "string", "pattern": "^[0-9]+(Mi|Gi)$", "maxLength": 8},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "ports": {
            "type": "array", "maxItems": 3,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object", "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                },
            },
        },
        "limits": {
            "type": "object",
            "additionalProperties": {"anyOf": [{"type": "integer"}, {"type": "string"}],
                                     "x-kubernetes-int-or-string": True},
        },
        "settings": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "note": {"type": "string", "nullable": True},
    },
}

STATUS = {
    "type": "object",
    "properties": {
        "phase": {"type": "string"},
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "conditions": {
            "type": "array",
            "items": {
                "type": "object", "required": ["type", "status"],
                "properties": {"type": {"type": "string"}, "status": {"type": "string"},
                               "reason": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}

COLUMNS = [
    {"name": "Mode", "type": "string", "jsonPath": ".spec.mode"},
    {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
    {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
    {"name": "Note", "type": "string", "jsonPath": ".spec.note", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def definition():
    made = crd(
        GROUP, "widgets", "Widget", {"spec": SPEC, "status": STATUS},
        subresources={"status": {}, "scale": {
            "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector"}},
        additionalPrinterColumns=COLUMNS,
        selectableFields=[{"jsonPath": ".spec.mode"}])
    made["spec"]["names"]["shortNames"] = ["wd"]
    return made


def widget(name, **spec):
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name},
            "spec": spec}


register_kind("Widget", f"{GROUP}/v1", "widgets", True)
