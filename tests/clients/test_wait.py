"""kubectl wait."""

from harness.objects import config_map, pod
from harness.registry import test
from harness.widgets import GROUP, widget


def start_waiting(t, *arguments):
    """Returns once kubectl has seen that what it waits for is not so yet, and watches."""
    wait = t.start_kubectl("wait", *arguments, "--timeout=300s", "-v=6")
    wait.wait_for("watch=true")
    return wait


def succeeded(wait, *printed):
    code, output = wait.wait()
    assert code == 0 and all(text in output.splitlines() for text in printed), output


@test
def for_a_condition_that_holds(t):
    t.run_pods()
    t.create(pod("a", run=True))
    t.kubectl("wait", "pod/a", "--for=condition=Ready", "--timeout=300s").prints(
        "pod/a condition met")


@test
def for_a_condition_to_come(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    wait = start_waiting(t, "widget/w", "--for=condition=Done")
    t.set_status("Widget", "w", {"conditions": [{"type": "Done", "status": "False"}]})
    t.set_status("Widget", "w", {"conditions": [{"type": "Done", "status": "True"}]})
    succeeded(wait, f"widget.{GROUP}/w condition met")


@test
def for_a_condition_with_a_value(t):
    t.widgets()
    t.create(widget("w", mode="a"))
    t.set_status("Widget", "w", {"conditions": [{"type": "Done", "status": "False"}]})
    t.kubectl("wait", "widget/w", "--for=condition=Done=False", "--timeout=300s").prints(
        f"widget.{GROUP}/w condition met")


@test
def gives_up(t):
    t.create(pod("a"))
    t.kubectl_fails("wait", "pod/a", "--for=condition=Ready", "--timeout=1s").complains(
        "error: timed out waiting for the condition on pods/a")


@test
def for_deletion(t):
    t.create(config_map("a"))
    t.hold("ConfigMap", "a")
    t.api.delete(t.get("ConfigMap", "a"))
    wait = start_waiting(t, "configmap/a", "--for=delete")
    t.release("ConfigMap", "a")
    succeeded(wait, "configmap/a condition met")


@test
def for_deletion_by_label(t):
    t.create(config_map("a", labels={"l": "1"}))
    wait = start_waiting(t, "configmap", "-l", "l=1", "--for=delete")
    t.api.delete(t.get("ConfigMap", "a"))
    succeeded(wait, "configmap/a condition met")


@test(since=23)
def for_a_field(t):
    t.create(pod("a"))
    wait = start_waiting(t, "pod/a", "--for=jsonpath={.status.phase}=Failed")
    t.set_status("Pod", "a", {"phase": "Failed"})
    succeeded(wait, "pod/a condition met")


@test(since=31)
def for_creation(t):
    wait = t.start_kubectl("wait", "configmap/a", "--for=create", "--timeout=300s")
    t.create(config_map("a"))
    succeeded(wait, "configmap/a condition met")


@test
def for_a_definition(t):
    t.widgets()
    t.kubectl("wait", f"crd/widgets.{GROUP}", "--for=condition=Established").prints(
        f"customresourcedefinition.apiextensions.k8s.io/widgets.{GROUP} condition met")
