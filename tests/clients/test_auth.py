"""Who am I and what may I do."""

import http.client
import ssl

from harness.check import expect
from harness.registry import test


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
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        server = t.api.server
        connection = http.client.HTTPSConnection(server.hostname, server.port, context=tls,
                                                 timeout=30)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    assert status("/api/v1/nodes", {"Authorization": "Bearer wrong"}) == 401
    assert status("/api/v1/nodes", {}) in (401, 403)
    assert status("/healthz", {}) == 200
    assert status("/version", {}) == 200
