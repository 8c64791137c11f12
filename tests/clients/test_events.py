"""kubectl get events."""

from harness.objects import event, pod
from harness.registry import test


@test
def a_table_of_events(t):
    made = t.create(pod("a"))
    t.create(event("e1", made, "Started", "it started"),
             event("e2", made, "Broke", "it broke", kind="Warning", count=3,
                   lastTimestamp="2020-01-02T00:00:00Z"))
    t.kubectl("get", "events").prints("""
        LAST SEEN  TYPE     REASON   OBJECT  MESSAGE
        <<AGE>>    Normal   Started  pod/a   it started
        <<AGE>>    Warning  Broke    pod/a   it broke
    """)
    t.kubectl("get", "events", "--sort-by", ".lastTimestamp", "-o", "wide").prints("""
        LAST SEEN  TYPE  REASON  OBJECT  SUBOBJECT  SOURCE  MESSAGE  FIRST SEEN  COUNT  NAME
        <<AGE>>  Normal  Started  pod/a  tester  it started  <<AGE>>  1  e1
        <<AGE>>  Warning  Broke  pod/a  tester  it broke  <<AGE>>  3  e2
    """)


@test
def selected_by_field(t):
    made, other = t.create(pod("a")), t.create(pod("b"))
    t.create(event("e1", made, "Started", "it started"),
             event("e2", made, "Broke", "it broke", kind="Warning"),
             event("e3", other, "Broke", "it broke", kind="Warning"))
    t.finds("events", "--field-selector", {
        "type=Warning": "e2 e3", "reason=Started": "e1", "involvedObject.name=a": "e1 e2",
        "involvedObject.kind=Pod,type=Normal": "e1", "source=tester": "e1 e2 e3",
        f"involvedObject.uid={other['metadata']['uid']}": "e3"})


@test(since=26)
def the_events_command(t):
    made = t.create(pod("a"))
    t.create(event("e1", made, "Started", "it started"))
    t.kubectl("events", "--for", "pod/a").prints("""
        LAST SEEN  TYPE    REASON   OBJECT  MESSAGE
        <<AGE>>    Normal  Started  Pod/a   it started
    """)


@test
def both_versions_show_one_event(t):
    """An event written as core/v1 is read as events.k8s.io/v1 and the other way round."""
    made = t.create(pod("a"))
    t.create(event("e1", made, "Started", "it started"))
    t.kubectl("get", "events.v1.events.k8s.io", "e1", "-o", "json").holds({
        "apiVersion": "events.k8s.io/v1", "note": "it started", "reason": "Started",
        "regarding": {"kind": "Pod", "name": "a", "uid": made["metadata"]["uid"]},
        "deprecatedSource": {"component": "tester"}, "deprecatedCount": 1})
    t.kubectl("create", "-f", "-", input={
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e2"},
        "eventTime": "2020-01-01T00:00:00.123456Z", "reportingController": "example.com/c",
        "reportingInstance": "c-1", "action": "Binding", "reason": "Bound", "type": "Normal",
        "note": "noted",
        "regarding": {"kind": "Pod", "name": "a", "namespace": t.namespace, "apiVersion": "v1"}})
    t.kubectl("get", "events.v1.", "e2", "-o", "json").holds({
        "apiVersion": "v1", "message": "noted", "reason": "Bound", "action": "Binding",
        "reportingComponent": "example.com/c", "reportingInstance": "c-1",
        "eventTime": "2020-01-01T00:00:00.123456Z",
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": t.namespace}})
