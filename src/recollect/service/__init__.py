"""Recollect as a service of a person's own: what the supervisor of this system is told, and how it is told.

`launch` says what is to run; `systemd` and `launchd` write it in their forms; `installing` puts the file where it
belongs, starts it, and takes it away again. Nothing here needs the rights of an administrator.
"""

from recollect.service.installing import Installed, Installer, Kind, kind_of
from recollect.service.launch import Given, Launch, launch_of

__all__ = ["Given", "Installed", "Installer", "Kind", "Launch", "kind_of", "launch_of"]
