#!/usr/bin/python3
"""What deploy/ lets the programs do, as far as it can be judged without a cluster.

tests/kubernetes runs them with exactly these roles.
"""

import unittest
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
CHART = DEPLOY / "helm" / "koordinator"
ACCOUNTS = ("koordlet", "koord-manager", "koord-scheduler")


def documents(path):
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def base():
    """What `kubectl apply -k deploy/` makes besides CRDs, which are many and give no rights."""
    kustomization = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
    assert set(kustomization) == {"apiVersion", "kind", "resources"}, kustomization
    return [each for name in kustomization["resources"] if not name.startswith("crds/")
            for each in documents(DEPLOY / name)]


def rules_of(account, things, whole_cluster):
    """What the account may do, everywhere or in single namespaces."""
    kinds = ("ClusterRole", "ClusterRoleBinding") if whole_cluster else ("Role", "RoleBinding")
    roles = {each["metadata"]["name"]: each["rules"] for each in things if each["kind"] == kinds[0]}
    bound = [each["roleRef"]["name"] for each in things if each["kind"] == kinds[1]
             and any(subject["name"] == account for subject in each["subjects"])]
    return [rule for name in bound for rule in roles.get(name, [])]


def verbs_of(rules, resource, group=""):
    return {verb for rule in rules for verb in rule["verbs"]
            if resource in rule["resources"] and group in rule["apiGroups"]}


class Roles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.things = base()

    def test_every_account_has_roles(self):
        for account in ACCOUNTS:
            self.assertTrue(rules_of(account, self.things, whole_cluster=True), account)

    def test_koordlet_reads_kubelets_without_the_right_to_run_commands(self):
        rules = rules_of("koordlet", self.things, whole_cluster=True)
        self.assertEqual(verbs_of(rules, "nodes/pods"), {"get"})
        self.assertEqual(verbs_of(rules, "nodes/configz"), {"get"})
        self.assertEqual(verbs_of(rules, "nodes/proxy"), set())

    def test_nobody_else_gets_it_either(self):
        for each in self.things:
            for rule in each.get("rules") or ():
                self.assertNotIn("nodes/proxy", rule.get("resources", ()), each["metadata"]["name"])

    def test_it_is_to_be_had_on_request(self):
        component = DEPLOY / "koordlet" / "kubelet-proxy"
        names = yaml.safe_load((component / "kustomization.yaml").read_text())["resources"]
        added = [each for name in names for each in documents(component / name)]
        rules = rules_of("koordlet", added, whole_cluster=True)
        self.assertEqual(verbs_of(rules, "nodes/proxy"), {"get"})
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        self.assertIs(values["koordlet"]["kubeletProxyAccess"], False)

    def test_no_rule_is_about_everything(self):
        for each in self.things:
            for rule in each.get("rules") or ():
                for field in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
                    self.assertNotIn("*", rule.get(field, ()), each["metadata"]["name"])

    def test_nobody_reads_secrets_or_becomes_somebody_else(self):
        for account in ACCOUNTS:
            rules = rules_of(account, self.things, whole_cluster=True)
            self.assertEqual(verbs_of(rules, "secrets"), set(), account)
            verbs = {verb for rule in rules for verb in rule["verbs"]}
            self.assertFalse(verbs & {"impersonate", "escalate", "bind"}, account)


if __name__ == "__main__":
    unittest.main()
