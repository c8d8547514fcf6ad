"""The template tag for the link to the page with which people follow something."""

from typing import Any
from urllib.parse import urlencode

from django.template import Library
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from ladder.extras.follows import selectors
from ladder.extras.follows.models import Followable, kind_of

register = Library()


@register.simple_tag(takes_context=True)
def follow_link(context: dict[str, Any], subject: Followable) -> SafeString:
    """Return the link, which says whether the visitor follows it."""
    is_following = selectors.is_following(context["request"].user, subject)
    query = urlencode({kind_of(subject): subject.slug})
    return format_html(
        '<a class="button quiet" href="{}?{}">{}</a>',
        *(reverse("follow"), query, _("Following") if is_following else _("Follow")),
    )
