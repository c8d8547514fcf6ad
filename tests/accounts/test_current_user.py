"""`/api/v1/me/`: the user of a token."""


def test_it_names_the_user_and_what_the_token_permits(api) -> None:
    whole = api("ana").get("/api/v1/me/").json()

    assert whole["name"] == "ana"
    assert "read" in whole["scopes"]
    assert api("ana").get("/api/v1/me/").json()["name"] == "ana"


def test_an_unknown_parameter_is_refused(api) -> None:
    answer = api("ana").get("/api/v1/me/?nmae=ana")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "nmae"
