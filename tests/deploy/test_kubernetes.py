"""The manifests of deploy/kubernetes: their schemas, and what they say about us."""

import os
import re
import shutil
import subprocess
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.test import Client

from ladder.celery import app
from tests.deploy.test_operating_page import VARIABLES

FOLDER = settings.BASE_DIR / "deploy" / "kubernetes"
PAGE = (settings.BASE_DIR / "docs" / "operating.md").read_text()
DOCKERFILE = (FOLDER.parent / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((FOLDER.parent / "compose.yaml").read_text())["services"]
VERSION = "1.35"
OF_KEDA = "keda.sh/v1alpha1"  # its schemas are not those of Kubernetes
EXAMPLES = ("ingress", "datasets")
OF_KEYS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
UNPRIVILEGED = ("migrate", "web", "dispatcher", "monitor")
PRIVILEGED = ("worker", "builder", "practice")


def documents(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text()))


KUSTOMIZATION = documents(FOLDER / "kustomization.yaml")[0]
OBJECTS = [
    each for name in KUSTOMIZATION["resources"] for each in documents(FOLDER / name)
]
EXAMPLE_OBJECTS = [
    each
    for example in EXAMPLES
    for name in documents(FOLDER / "examples" / example / "kustomization.yaml")[0][
        "resources"
    ]
    for each in documents(FOLDER / "examples" / example / name)
]
NAMES = [
    f"{each['kind']}-{each['metadata']['name']}"
    for each in [*OBJECTS, *EXAMPLE_OBJECTS]
]
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for each in OBJECTS
    if each["kind"] in {"Deployment", "Job"}
}
CONTAINERS = {name: pod["containers"][0] for name, pod in PODS.items()}
(BACKUP,) = [each["spec"] for each in OBJECTS if each["kind"] == "CronJob"]
BACKUP_POD = BACKUP["jobTemplate"]["spec"]["template"]["spec"]
EVERY_POD = {**PODS, "backup": BACKUP_POD}


def of_kind(kind: str) -> Iterator[dict[str, Any]]:
    return (each for each in OBJECTS if each["kind"] == kind)


def namespace_of(name: str) -> str:
    kinds = ("Deployment", "Job", "CronJob")
    (found,) = {
        each["metadata"]["namespace"]
        for kind in kinds
        for each in of_kind(kind)
        if each["metadata"]["name"] == name
    }
    return found


def test_every_file_is_listed() -> None:
    files = {path.name for path in FOLDER.glob("*.yaml")}

    assert set(KUSTOMIZATION["resources"]) == files - {"kustomization.yaml"}


@pytest.mark.parametrize("manifest", [*OBJECTS, *EXAMPLE_OBJECTS], ids=NAMES)
def test_the_schema_holds(manifest: dict[str, Any]) -> None:
    if manifest["apiVersion"] == OF_KEDA:
        assert manifest["kind"] in {"ScaledObject", "TriggerAuthentication"}
        return
    kubernetes_validate.validate(manifest, VERSION, strict=True)

    misspelt = manifest | {"metdata": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(misspelt, VERSION, strict=True)


def test_the_names_of_containers_are_those_of_compose() -> None:
    assert set(PODS) == set(COMPOSE) - {"db", "redis"} == {*UNPRIVILEGED, *PRIVILEGED}


@pytest.mark.parametrize("name", PODS)
def test_a_container_runs_what_compose_runs(name: str) -> None:
    compose, container = COMPOSE[name], CONTAINERS[name]
    own = {each["name"]: each["value"] for each in container.get("env", [])}

    assert container["args"] == compose["command"]
    assert f"{container['image']}:local" == compose["image"]
    assert own.keys() == compose.get("environment", {}).keys()
    images = {image["name"] for image in KUSTOMIZATION["images"]}
    assert container["image"] in images


@pytest.mark.parametrize("name", PODS)
def test_a_command_exists(name: str) -> None:
    program, *words = CONTAINERS[name]["args"]
    if program == "celery":
        assert words[:2] == ["-A", app.main + ".celery"]
        queues = set(words[words.index("--queues") + 1].split(","))
        routed = {route["queue"] for route in app.conf.task_routes.values()}
        assert queues & (routed | {app.conf.task_default_queue})
        return
    command, *options = words[1:]
    parser = load_command_class(get_commands()[command], command).create_parser("", "")
    assert parser.parse_args(options)


@pytest.mark.parametrize("name", [*UNPRIVILEGED, "backup"])
def test_what_runs_no_bots_fits_the_restricted_standard(name: str) -> None:
    pod = EVERY_POD[name]
    (container,) = pod["containers"]

    assert namespace_of(name) == "torres"
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert f"--uid {pod['securityContext']['runAsUser']} " in DOCKERFILE
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("name", PRIVILEGED)
def test_workers_are_apart(name: str) -> None:
    grace_s = PODS[name]["terminationGracePeriodSeconds"]

    assert namespace_of(name) == "torres-workers"
    assert CONTAINERS[name]["securityContext"]["privileged"]
    assert PODS[name]["nodeSelector"]
    assert grace_s > settings.TORRES_GRACE_SECONDS


def test_pod_security_is_enforced() -> None:
    levels = {
        each["metadata"]["name"]: each["metadata"]["labels"]
        for each in of_kind("Namespace")
    }
    key = "pod-security.kubernetes.io/enforce"

    assert levels["torres"] == {key: "restricted"}
    assert levels["torres-workers"] == {key: "privileged"}


@pytest.mark.parametrize("name", EVERY_POD)
def test_no_pod_has_an_account_or_unknown_variables(name: str) -> None:
    pod = EVERY_POD[name]
    assert pod["automountServiceAccountToken"] is False
    sources = [next(iter(each.values())) for each in pod["containers"][0]["envFrom"]]
    secrets = "torres-worker-secrets" if name in PRIVILEGED else "torres-secrets"
    assert [each["name"] for each in sources] == ["torres-settings", secrets]


def test_every_setting_exists() -> None:
    first, second = [each["data"] for each in of_kind("ConfigMap")]

    assert second == {name: first.get(name, "1") for name in second}
    assert {*first, *second} <= set(VARIABLES)
    assert "TORRES_UPLOADS" in {*first} & {*second}  # the pods share no folder
    listed = {
        secret: set(re.findall(r"--from-literal=(\w+)=", text))
        for secret, text in re.findall(
            r"create secret generic ([\w-]+)((?:[^\n]*\\\n)+[^\n]*)", PAGE
        )
    }
    assert {"DATABASE_URL", "SECRET_KEY"} <= listed["torres-secrets"]
    assert listed["torres-worker-secrets"] == {"DATABASE_URL", "BROKER_URL", *OF_KEYS}
    assert set().union(*listed.values()) <= {*VARIABLES, *OF_KEYS}


def test_workers_have_no_secret_of_the_service() -> None:
    assert [each["data"].get("TORRES_WORKER") for each in of_kind("ConfigMap")] == [
        None,
        "1",
    ]


@pytest.mark.parametrize("kind", ["readinessProbe", "livenessProbe"])
@pytest.mark.parametrize("name", sorted(PODS.keys() - {"migrate"}))
def test_every_part_has_probes(name: str, kind: str) -> None:
    """No liveness probe looks at the database, which may be away."""
    probe = CONTAINERS[name][kind]

    if name == "web":
        assert probe["httpGet"]
    elif kind == "livenessProbe" or name not in {"worker", "builder"}:
        *shell, script = COMPOSE["dispatcher"]["healthcheck"]["test"]
        assert shell == ["CMD", "sh", "-c"]
        assert probe["exec"]["command"] == ["sh", "-c", script.replace("$$", "$")]
    else:
        assert ["CMD", *probe["exec"]["command"]] == COMPOSE[name]["healthcheck"][
            "test"
        ]


@pytest.mark.parametrize("kind", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_a_probe_of_the_web_server_is_a_route(kind: str) -> None:
    web = CONTAINERS["web"]
    get = web[kind]["httpGet"]
    (port,) = [each for each in web["ports"] if each["name"] == get["port"]]

    assert Client().get(get["path"], headers={"host": "10.0.0.1"}).status_code == 200
    assert web["args"][-1] == f"0.0.0.0:{port['containerPort']}"


@pytest.mark.parametrize("name", ["worker", "builder"])
def test_a_metric_that_the_page_explains_sets_the_number_of_pods(name: str) -> None:
    (scaled,) = [
        each["spec"]
        for each in of_kind("ScaledObject")
        if each["spec"]["scaleTargetRef"]["name"] == name
    ]
    (deployment,) = [
        each["spec"]
        for each in of_kind("Deployment")
        if each["metadata"]["name"] == name
    ]
    (trigger,) = scaled["triggers"]
    (authentication,) = of_kind("TriggerAuthentication")
    (secret,) = authentication["spec"]["secretTargetRef"]

    assert "replicas" not in deployment  # else each `kubectl apply` sets it
    assert trigger["metricType"] == "AverageValue"
    assert f"`{trigger['metadata']['valueLocation']}`" in PAGE
    assert trigger["metadata"]["url"].endswith("/metrics")
    assert trigger["authenticationRef"]["name"] == authentication["metadata"]["name"]
    assert secret["key"] in VARIABLES


def test_slots_that_are_wanted_are_divided_by_the_slots_of_a_worker() -> None:
    (target,) = [
        trigger["metadata"]["targetValue"]
        for each in of_kind("ScaledObject")
        for trigger in each["spec"]["triggers"]
        if trigger["metadata"]["valueLocation"] == "torres_slots_wanted"
    ]
    args = CONTAINERS["worker"]["args"]

    assert target == args[args.index("--concurrency") + 1]


@pytest.mark.parametrize("name", ["web", "dispatcher", "worker"])
def test_pods_are_spread_over_zones_and_nodes(name: str) -> None:
    constraints = PODS[name]["topologySpreadConstraints"]

    assert [each["topologyKey"] for each in constraints] == [
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
    ]
    for each in constraints:
        assert each["labelSelector"]["matchLabels"] == {"app": name}
        assert each["whenUnsatisfiable"] == "ScheduleAnyway"  # also with one node


def test_a_backup_is_a_command_and_lies_on_a_volume_that_stays(tmp_path: Path) -> None:
    """Runs the script with a program in the place of `manage.py backup`."""
    (container,) = BACKUP_POD["containers"]
    mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    (volume,) = [
        each for each in BACKUP_POD["volumes"] if each["name"] == mounts["/backups"]
    ]
    claims = [each["metadata"]["name"] for each in of_kind("PersistentVolumeClaim")]
    shell, options, script = container["args"]
    words = re.findall(r"manage.py (\w+)", script)
    (tmp_path / "python").write_text('#!/bin/sh\nmkdir "$3"\n')
    (tmp_path / "python").chmod(0o755)
    backups = tmp_path / "backups"
    old, recent = backups / "old", backups / "recent"
    for folder, days in ((old, 20), (recent, 3)):
        folder.mkdir(parents=True)
        then = time.time() - days * 24 * 3600
        os.utime(folder, (then, then))
    subprocess.run(
        [shell, options, script.replace("/backups", str(backups))],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=True,
    )

    assert volume["persistentVolumeClaim"]["claimName"] in claims
    assert words == ["backup"]
    assert load_command_class(get_commands()["backup"], "backup")
    assert f"AS {container['image'].removeprefix('torres-')}\n" in DOCKERFILE
    assert recent.exists()
    assert not old.exists()
    (new,) = set(backups.iterdir()) - {recent}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}", new.name)


def test_the_ingress_leads_to_the_web_server_with_the_limits_of_nginx() -> None:
    (ingress,) = [each for each in EXAMPLE_OBJECTS if each["kind"] == "Ingress"]
    (service,) = of_kind("Service")
    (rule,) = ingress["spec"]["rules"]
    (tls,) = ingress["spec"]["tls"]
    (path,) = rule["http"]["paths"]
    notes = {
        key.rpartition("/")[2]: value
        for key, value in ingress["metadata"]["annotations"].items()
    }
    nginx = (FOLDER.parent / "nginx.conf").read_text()

    assert [rule["host"]] == tls["hosts"]
    assert rule["host"] == next(of_kind("ConfigMap"))["data"]["ALLOWED_HOSTS"]
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]
    ports = {port["name"] for port in service["spec"]["ports"]}
    assert path["backend"]["service"]["port"]["name"] in ports
    assert f"client_max_body_size {notes['proxy-body-size']};" in nginx
    assert f"proxy_read_timeout {notes['proxy-read-timeout']}s;" in nginx
    assert f"limit_conn torres_connections {notes['limit-connections']};" in nginx


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "Service"])
def test_a_selector_finds_pods(kind: str) -> None:
    for each in of_kind(kind):
        selector = each["spec"]["selector"]
        labels = selector.get("matchLabels", selector)
        assert labels["app"] in PODS
        assert namespace_of(labels["app"]) == each["metadata"]["namespace"]


def test_every_namespace_is_closed() -> None:
    closed = {
        each["metadata"]["namespace"]
        for each in of_kind("NetworkPolicy")
        if each["spec"]["podSelector"] == {}
        and set(each["spec"]["policyTypes"]) == {"Ingress", "Egress"}
        and "ingress" not in each["spec"]
    }

    assert closed == {each["metadata"]["name"] for each in of_kind("Namespace")}


def test_only_dispatchers_get_the_key_of_the_log() -> None:
    """Pods keep no files, so a dispatcher without the Secret would make a new key."""
    given = {
        name: volume["secret"]["secretName"]
        for name, pod in PODS.items()
        for volume in pod["volumes"]
        if "secret" in volume
    }
    (variable,) = CONTAINERS["dispatcher"]["env"]
    mounts = CONTAINERS["dispatcher"]["volumeMounts"]
    (folder,) = [each["mountPath"] for each in mounts if each.get("readOnly")]
    file = re.search(rf"secret generic {given['dispatcher']} --from-file=(\S+)", PAGE)

    assert given.keys() == {"dispatcher"}
    assert variable["name"] == "TORRES_LOG_KEY"
    assert file
    assert variable["value"] == f"{folder}/{file[1]}"


# CI does not install it, because the tests above check all that it reads.
needs_kubectl = pytest.mark.skipif(not shutil.which("kubectl"), reason="needs kubectl")


def render(folder: Path) -> list[dict[str, Any]]:
    text = subprocess.check_output(["kubectl", "kustomize", folder], text=True)
    return list(yaml.safe_load_all(text))


@needs_kubectl
def test_kustomize_renders_all_of_it() -> None:
    objects = render(FOLDER)

    assert len(objects) == len(OBJECTS)
    images = set(re.findall(r"'image': '(\S+)'", str(objects)))
    assert images == {
        f"torres-{name}:local" for name in ("service", "worker", "backup")
    }


@needs_kubectl
def test_kustomize_renders_the_overlay_of_the_page(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "torres" / "deploy" / "kubernetes")
    (text,) = re.findall(
        r"   ```\n(   # kustomization.yaml\n.*?)   ```", PAGE, re.DOTALL
    )
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay" / "kustomization.yaml").write_text(textwrap.dedent(text))
    objects = render(tmp_path / "overlay")
    mounted = {
        each["metadata"]["name"]
        for each in objects
        if each["kind"] == "Deployment" and "'/datasets'" in str(each)
    }

    assert len(objects) == len(OBJECTS) + len(EXAMPLE_OBJECTS)
    assert mounted == {"web", "dispatcher"}
    assert "ladder.example.org" not in str(objects)
    assert "local" not in re.findall(r"'image': '[^']+:(\w+)'", str(objects))
    settings_of = [each["data"] for each in objects if each["kind"] == "ConfigMap"]
    assert [each.get("TORRES_DATASETS") for each in settings_of].count("/datasets") == 1
    assert {name for each in settings_of for name in each} <= set(VARIABLES)
    for each in objects:
        if each["apiVersion"] != OF_KEDA:
            kubernetes_validate.validate(each, VERSION, strict=True)
