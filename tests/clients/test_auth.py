"""Who am I and what may I do."""

import http.client
import json
import ssl

from harness.check import expect
from harness.objects import pod
from harness.registry import test


def ask(t, method, path, headers, body=None):
    """A request without the kubeconfig's credentials; returns status and body."""
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    server = t.api.server
    connection = http.client.HTTPSConnection(server.hostname, server.port, context=tls, timeout=300)
    connection.request(method, path, body and json.dumps(body),
                       {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


@test
def can_i(t):
    t.kubectl("auth", "can-i", "create", "pods").prints("yes")
    t.kubectl("auth", "can-i", "*", "*", "--all-namespaces").prints("yes")
    t.kubectl("auth", "can-i", "get", "pods", "--subresource=status").prints("yes")
    t.kubectl("auth", "can-i", "get", "/healthz").prints("yes")


@test
def can_i_list(t):
    t.kubectl("auth", "can-i", "--list").contains("*.* <<.*>> [*]")


@test(only_on={"kubernetes": "the local cluster lets everybody who is authenticated do everything"})
def can_somebody_else(t):
    t.kubectl_fails("auth", "can-i", "create", "pods", "--as=nobody").prints("no")
    t.kubectl_fails("get", "pods", "--as=nobody").complains(
        'Error from server (Forbidden): pods is forbidden: User "nobody" cannot list resource '
        f'"pods" in API group "" in the namespace "{t.namespace}"')


@test(since=28)
def who_am_i(t):
    user = t.kubectl("auth", "whoami", "-o", "json").json()["status"]["userInfo"]
    expect(user, {"username": lambda name: bool(name)})
    assert {"system:masters", "system:authenticated"} <= set(user["groups"]), user
    t.kubectl("auth", "whoami").contains("Username <<\\s+\\S+>>", "Groups <<\\s+>>[<<.*>>]")


@test
def strangers_are_turned_away(t):
    def status(path, headers):
        return ask(t, "GET", path, headers)[0]

    assert status("/api/v1/nodes", {"Authorization": "Bearer wrong"}) == 401
    assert status("/api/v1/nodes", {}) in (401, 403)
    assert status("/healthz", {}) == 200
    assert status("/version", {}) == 200


@test(since=24)
def a_service_accounts_token_says_who_it_is(t):
    t.kubectl("create", "serviceaccount", "robot")
    uid = t.get("ServiceAccount", "robot")["metadata"]["uid"]
    token = t.kubectl("create", "token", "robot").stdout.strip()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
              "spec": {"token": token}}
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{t.namespace}",
              "system:authenticated"]
    robot = {"username": f"system:serviceaccount:{t.namespace}:robot", "uid": uid,
             "groups": lambda found: sorted(found) == sorted(groups)}
    answer = t.api.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    expect(answer.has_status(201).json()["status"], {"authenticated": True, "user": robot})
    status, text = ask(t, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                       {"Authorization": f"Bearer {token}"},
                       {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    assert status == 201, text
    expect(json.loads(text)["status"]["userInfo"], robot)


@test(since=24)
def a_token_ends_with_its_account(t):
    """Also when another account of the same name takes its place."""
    def status():
        return ask(t, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                   {"Authorization": f"Bearer {token}"},
                   {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})[0]

    t.kubectl("create", "serviceaccount", "robot")
    token = t.kubectl("create", "token", "robot").stdout.strip()
    assert status() == 201
    t.kubectl("delete", "serviceaccount", "robot")
    t.eventually(lambda: status() == 401, "the token to be refused")  # Kubernetes remembers a while
    t.kubectl("create", "serviceaccount", "robot")
    assert status() == 401


@test(since=24)
def a_token_ends_with_the_pod_that_it_is_bound_to(t):
    t.create(pod("p"))
    token = t.kubectl("create", "token", "default", "--bound-object-kind=Pod",
                      "--bound-object-name=p").stdout.strip()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
              "spec": {"token": token}}

    def is_good():
        answer = t.api.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
        return answer.has_status(201).json()["status"].get("authenticated", False)

    assert is_good()
    t.kubectl("delete", "pod", "p", "--force", "--grace-period=0")
    t.eventually(lambda: not is_good(), "the token to be refused")
    t.kubectl_fails("create", "token", "default", "--bound-object-kind=Pod",
                    "--bound-object-name=p").complains('error: failed to create token: pods "p" not found')
