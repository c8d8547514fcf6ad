"""Nothing is sent to an address that is not public, by no way."""

import socket
from typing import Any

import pytest
from pytest_django import Settings

from ladder.extras.webhooks import services
from ladder.extras.webhooks.addresses import BadWebhook, check_url, is_permitted
from ladder.extras.webhooks.models import Webhook
from tests.webhooks.factories import (
    MovedClock,
    answer,
    happen,
    receiver,
    sender,
    webhook,
)

PUBLIC = "93.184.215.14"
NOT_PUBLIC = [
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1"),
    *("224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"),
    *("2002:7f00:1::", "2001::1", "2001:db8::1", "fec0::1", "no address"),
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_permitted(address)


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "2606:2800:21f:cb07::1"])
def test_public_addresses_are_permitted(address: str) -> None:
    assert is_permitted(address)


def test_an_operator_may_permit_networks(settings: Settings) -> None:
    settings.TORRES_WEBHOOK_NETWORKS = ["10.1.0.0/16", "fd12::/64"]

    assert is_permitted("10.1.2.3")
    assert is_permitted("::ffff:10.1.2.3")
    assert is_permitted("fd12::5")
    assert not is_permitted("10.2.2.3")
    assert not is_permitted("127.0.0.1")


@pytest.mark.parametrize(
    "url",
    [
        *("", "x", "//host/", "ftp://1.1.1.1/", "file:///etc/passwd", "http://"),
        *("http:///path", "http://user@1.1.1.1/", "http://1.1.1.1/#part"),
        *("http://1.1.1.1:22/", "http://1.1.1.1:6/", "http://1.1.1.1:99999/"),
        *("http://127.0.0.1/", "http://localhost/", "http://[::1]:8000/"),
        *(
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
        ),
        *("http://[::ffff:10.0.0.1]/", "http://169.254.169.254/latest/meta-data"),
        *("http://a.invalid/", "http://1.1.1.1/" + "x" * 600, "http://exa mple/"),
        *("http://a\0b/", "http://\ud800/", "http://" + "a" * 300 + ".example/"),
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(BadWebhook) as refusal:
        check_url(url)

    assert refusal.value.code == "bad-webhook"


@pytest.mark.parametrize(
    "url", [f"https://{PUBLIC}/a?b=c", f"http://{PUBLIC}:8080", f"HTTPS://{PUBLIC}/"]
)
def test_urls_that_are_accepted(url: str) -> None:
    check_url(url)


class Names:
    """Answers for names instead of the resolver, and counts the questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.addresses = addresses
        self.asked = 0
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._answer)

    def _answer(self, host: Any, port: Any, *args: Any, **more: Any) -> Any:
        if host != "hooks.example":
            return self._real(host, port, *args, **more)
        self.asked += 1
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in self.addresses
        ]


@pytest.mark.django_db(transaction=True)
def test_a_name_that_leads_to_a_private_address_later_is_refused(
    clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(monkeypatch, PUBLIC)
    with receiver() as there, sender(clock) as sending:
        hook = webhook(f"http://hooks.example:{there.port}/")
        happen("one")
        names.addresses = ("127.0.0.1",)
        sending.drain()
        assert there.got == []
        # One public address among others does not help.
        names.addresses = (PUBLIC, "127.0.0.1")
        clock.move(minutes=1)
        sending.drain()
        assert there.got == []

    (delivery,) = hook.deliveries.all()
    assert (delivery.status, delivery.tries) == ("waiting", 2)
    assert "not public" in delivery.error


@pytest.mark.django_db(transaction=True)
def test_a_name_is_resolved_once_and_the_checked_address_is_used(
    clock: MovedClock, monkeypatch: pytest.MonkeyPatch, loopback: None
) -> None:
    names = Names(monkeypatch, "127.0.0.1")
    with receiver() as there, sender(clock) as sending:
        webhook(f"http://hooks.example:{there.port}/")
        names.asked = 0
        happen("one")
        sending.drain()

    (delivered,) = there.got
    assert names.asked == 1
    assert delivered.headers["host"] == f"hooks.example:{there.port}"


@pytest.mark.django_db(transaction=True)
def test_a_webhook_that_redirects_to_a_private_address_is_not_followed(
    clock: MovedClock, loopback: None
) -> None:
    with receiver() as there, receiver() as inside, sender(clock) as sending:
        there.answer = answer(307, Location=inside.url)
        hook = webhook(there.url)
        happen("one")
        sending.drain()

    assert inside.got == []
    (delivery,) = hook.deliveries.all()
    assert delivery.response == 307
    assert delivery.error.endswith("Redirects are not followed.")


@pytest.mark.django_db(transaction=True)
def test_a_row_with_a_private_address_is_refused_at_each_try(
    clock: MovedClock, settings: Settings
) -> None:
    with receiver() as there, sender(clock) as sending:
        settings.TORRES_WEBHOOK_NETWORKS = ["127.0.0.0/8"]
        hook = webhook(there.url)
        settings.TORRES_WEBHOOK_NETWORKS = []
        happen("one")
        sending.drain()
        assert there.got == []
        with pytest.raises(BadWebhook, match="not public"):
            services.edit(hook, {"url": there.url})
        services.switch_off(hook, "a test")
        hook.refresh_from_db()
        with pytest.raises(BadWebhook, match="not public"):
            services.edit(hook, {"active": True})

    assert not Webhook.objects.get().active
