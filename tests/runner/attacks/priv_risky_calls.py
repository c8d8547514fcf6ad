"""Use system calls that had vulnerabilities in the past."""

import errno

import kit

CALLS = {
    "io_uring_setup": (8, bytes(120)),
    "userfaultfd": (1,),
    "memfd_secret": (0,),
    "landlock_create_ruleset": (None, 0, 1),
    "quotactl": (0, None, 0, None),
    "fanotify_init": (0, 0),
    "seccomp": (2, 0, 0),
    "statmount": (None, None, 0, 0),
    "lsm_list_modules": (None, None, 0),
}


def attack():
    refused = {}
    for name, arguments in CALLS.items():
        try:
            return kit.syscall(name, *arguments)
        except OSError as why:
            refused[name] = why.errno
    # Any error but ENOSYS means that the filter let the call through to the kernel.
    return {name: code for name, code in refused.items() if code != errno.ENOSYS}


kit.play(attack)
