"""CronJobs."""

from harness.check import expect
from harness.objects import meta, template
from harness.registry import test


def cron_job(name, schedule, **spec):
    pod = template({"cron": name}, restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta(name),
            "spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": pod}}, **spec}}


@test
def starts_a_job_at_its_time(t):
    # Its pod never runs, so that there is one job only, however late we look.
    t.create(cron_job("c", "* * * * *", concurrencyPolicy="Forbid"))

    def started():
        jobs = t.list("Job")
        return jobs and jobs[0]
    made = t.eventually(started, "a job to be started")
    scheduled = made["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    expect(made["metadata"]["ownerReferences"], [{"kind": "CronJob", "name": "c",
                                                  "controller": True}])
    t.eventually(lambda: t.get("CronJob", "c")["status"].get("active"), "it to be listed as active")
    expect(t.get("CronJob", "c")["status"], {
        "lastScheduleTime": scheduled,
        "active": lambda jobs: made["metadata"]["uid"] in [job["uid"] for job in jobs]})
    t.eventually(lambda: t.kubectl(
        "get", "events", "--field-selector=involvedObject.kind=CronJob").contains(
            f"SuccessfulCreate  <<.*>>  Created job {made['metadata']['name']}"))


@test
def can_be_suspended(t):
    t.create(cron_job("c", "* * * * *", suspend=True))
    t.kubectl("get", "cronjob", "c", "--no-headers").contains("c  * * * * *")


@test(since=21)
def a_job_made_from_one(t):
    t.create(cron_job("c", "0 0 1 1 *"))
    t.kubectl("create", "job", "by-hand", "--from=cronjob/c").prints("job.batch/by-hand created")
    expect(t.get("Job", "by-hand")["metadata"], {
        "annotations": {"cronjob.kubernetes.io/instantiate": "manual"},
        "ownerReferences": [{"kind": "CronJob", "name": "c"}]})


@test
def schedules_that_make_no_sense(t):
    for schedule in ("often", "61 * * * *", "* * * * 8"):
        thing = cron_job("c", schedule)
        thing["metadata"]["namespace"] = t.namespace
        status = t.api.try_create(thing).rejects(422, reason="Invalid")
        assert "spec.schedule: Invalid value" in status["message"], status
