"""Make what people install: the wheel, the source distribution, the zipapp, the Debian package."""
