#!/usr/bin/env bash
# Installs missing system packages that the tests need: a browser, a database server, a web server, a font.
# It changes nothing if all are installed.
# Exits with 1, and says what to do, if it cannot install something.
set -euo pipefail

has_chromium() { command -v chromium; }
has_postgresql() { compgen -G '/usr/lib/postgresql/*/bin/postgres' || command -v postgres; }
has_nginx() { command -v nginx || test -x /usr/sbin/nginx; }
has_fonts_dejavu_core() { compgen -G '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'; }

list_missing() {
    has_chromium >/dev/null || echo chromium
    has_postgresql >/dev/null || echo postgresql
    has_nginx >/dev/null || echo nginx
    has_fonts_dejavu_core >/dev/null || echo fonts-dejavu-core
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env "$@"
    else
        sudo -n env "$@"
    fi
}

give_up() {
    echo "Missing: ${missing[*]}. $1" >&2
    echo "Install by hand, for example: sudo apt-get install ${missing[*]}" >&2
    exit 1
}

install_packages() {
    as_root DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        "${missing[@]}" </dev/null
}

mapfile -t missing < <(list_missing)
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi
command -v apt-get >/dev/null || give_up 'This system has no apt-get.'
as_root true 2>/dev/null || give_up 'Installing needs root, or sudo without a password.'

echo "Installing ${missing[*]}"
# the lists may be absent, or too old to name files that still exist: update only then
install_packages || {
    as_root DEBIAN_FRONTEND=noninteractive apt-get update </dev/null || true
    install_packages || give_up 'apt-get could not install them; see its message above.'
}

mapfile -t missing < <(list_missing)
[ ${#missing[@]} -eq 0 ] || give_up 'They are still not found after installing.'
