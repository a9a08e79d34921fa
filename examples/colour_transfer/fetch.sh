#!/bin/sh
# Takes two photographs out of Debian's package python3-skimage, without installing it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$PWD
cd "$folder"
apt-get download python3-skimage
dpkg-deb -x python3-skimage_*.deb .
mkdir -p "$here/photographs"
for name in coffee chelsea; do
  cp "$(find . -name $name.png | head -n 1)" "$here/photographs/"
done
echo "photographs/coffee.png, photographs/chelsea.png"
