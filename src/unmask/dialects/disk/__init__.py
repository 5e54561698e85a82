"""What the first sectors of a disk say: partition tables, file systems, encrypted volumes.

Disks belong to guests and are hostile: everything is read through a `Medium`, which bounds it.
"""
