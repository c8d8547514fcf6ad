"""One sentence for each problem code of the API, shown on /docs/problems/.

A test checks that no code is missing.
"""

PROBLEMS = {
    "bad-archive": "The archive breaks a rule for uploads. The detail names the rule.",
    "not-an-archive": "The upload is damaged, or it is neither a zip, a tar.gz nor a"
    " source file.",
    "empty-archive": "The upload contains no files, or only files that are ignored.",
    "archive-too-big": "The upload is too big, either packed or unpacked.",
    "too-many-files": "The archive has too many entries.",
    "unsafe-path": "A file name is absolute, leads outside the archive, or has"
    " characters that are not permitted.",
    "not-a-plain-file": "The archive contains a link or a device.",
    "duplicate-name": "Two entries of the archive have the same name.",
    "no-entry": "There is no bot.py (or bot.js, …), or bot.toml is wrong.",
    "no-bot": "There is no program of a bot in the file or folder.",
    "bad-comparison": "These versions cannot be compared. The detail gives the reason.",
    "no-receipt": "The public log does not have this upload or game, or not yet.",
    "bad-cosignature": "This is not a cosignature of a witness of this service.",
    "bad-challenge": "This challenge cannot be played. The detail gives the reason.",
    "bad-webhook": "The webhook cannot be as you want it. The detail gives the reason.",
    "bad-practice-game": "This game by hand cannot be played. The detail says why.",
    "bad-guest-cookie": "This browser is not known as a guest, or not any more.",
    "practice-is-off": "This service offers no games by hand.",
    "old-question": "The game does not ask this question any more. Read its state.",
    "bad-answer": "The actions are not legal in this position. The detail says why.",
    "bad-analysis": "There is no such position to analyse. The detail says why.",
    "analysis-is-off": "This service analyses no games.",
    "build-failed": "The bot does not compile. The log shows the compiler's errors.",
    "bad-address": "This text is no e-mail address.",
    "bad-user-name": "The user name has characters that are not permitted.",
    "github-failed": "GitHub did not confirm who somebody is.",
    "github-taken": "Another account is linked with this account at GitHub.",
    "user-name-taken": "Another user has this name, or the name is reserved.",
    "bad-invitation": "The invitation is unknown, used up or expired.",
    "sign-up-closed": "Only the operator of this service creates accounts.",
    "bad-link": "The link of a message has expired, or a newer one was used.",
    "bad-name": "The name of the bot has characters that are not permitted.",
    "name-taken": "Another bot has this name, or the name is reserved.",
    "cannot-play": "This upload was never ready, or its files are missing.",
    "bot-not-active": "The bot is withdrawn, benched or banned.",
    "membership-refused": "The bot cannot join or leave this ladder. The detail gives"
    " the reason.",
    "too-many": "A quota is used up. Try again after the time in Retry-After.",
    "throttled": "There were too many requests in one minute. Try again after the time"
    " in Retry-After.",
    "results-hidden": "You hide results, and this answer may contain some. Ask for it"
    " with ?results=shown.",
    "overtaken": "Another request changed the ladder at the same moment. Try again.",
    "not-over": "The game or its match is not over yet. Try again later.",
    "no-dataset": "There is no such dataset or file. The list says which there are.",
    "no-replay": "There is no replay, because the game was not played to its end.",
    "not-yours": "Only the owner of a bot in this game may see this.",
    "wrong-state": "The status of the game or tournament forbids this action.",
    "cannot-enter": "The bot cannot enter the tournament. The detail gives the reason.",
    "not-entered": "The bot has not entered this tournament.",
    "bad-config": "The format of the tournament is not valid. The detail says why.",
    "bad-limits": "The limits of the games are not valid. The detail says which.",
    "bad-ladder": "The settings of the ladder are not valid. The detail says which.",
    "bad-tournament": "The description of the tournament is not valid. `errors` lists"
    " each mistake.",
    "bad-action": "The service does not offer this action in this way.",
    "sandbox-unavailable": "The sandbox of the worker is below the required level.",
    "invalid": "The request has invalid values. `errors` lists each of them.",
    "parse-error": "The body is not valid JSON.",
    "body-too-large": "The body is larger than the limit, or it is an upload without a"
    " token. Send less, or sign in first.",
    "length-required": "The request does not declare the length of its body. Send a"
    " Content-Length header.",
    "unsupported-media-type": "Send JSON, or multipart/form-data for an upload.",
    "not-acceptable": "The API answers only with JSON.",
    "not-authenticated": "This needs a token: `Authorization: Bearer TOKEN`.",
    "authentication-failed": "The token is unknown or has expired.",
    "permission-denied": "You do not have permission for this action.",
    "bad-idempotency-key": "The Idempotency-Key is empty, too long or not ASCII.",
    "idempotency-key-reused": "Another request had this Idempotency-Key. Use a new"
    " one.",
    "in-progress": "The first request with this Idempotency-Key is still processed. Try"
    " again after the time in Retry-After.",
    "no-stored-response": "The request was done, but its response was not stored. Read"
    " what it has changed.",
    "missing-scope": "The token lacks the scope that `scope` names. Create one that has"
    " it.",
    "log-key": "This host does not have the key of the public log. An operator has to"
    " provide it.",
    "not-found": "There is nothing at this address.",
    "method-not-allowed": "This address does not support the method.",
    "csrf-failed": "The form has expired. Load the page again.",
    "bad-request": "The server cannot understand the request.",
    "server-error": "The service has failed. The error was logged.",
    "unavailable": "The database of the service is too busy or away. Try again after"
    " the time in Retry-After.",
}
