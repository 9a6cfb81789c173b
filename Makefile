# realm: `make lib`, `make test`, `make demo`, `make bench`, `make docs`,
# `make install PREFIX=/usr/local`, `make clean`. Everything is built below .build and build. Missing
# Debian packages are installed first, with sudo where needed; with SKIP_PACKAGES=1 they are not.

PREFIX ?= /usr/local
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share
VERSION := 14.14.0

# A CC of the environment would be used for the C parts of the Swift package, where only the
# compiler of the Swift tool chain fits.
unexport CC CXX CFLAGS CXXFLAGS LDFLAGS

.PHONY: lib cli header packages test test-packages bench demo docs install clean

lib: packages
	@.ci/generate-header
	@.ci/build-libsodium
	@.ci/swift-build --quiet --product realm
	@.ci/swift-build --quiet --product realm-import
	@.ci/swift-build --quiet --product realm-cli
	@mkdir -p build/lib build/bin
	@.ci/install-if-changed .build/release/librealm.so build/lib/librealm.so
	@.ci/install-if-changed .build/release/librealm-import.so build/lib/librealm-import.so
	@.ci/install-if-changed .build/release/realm-cli build/bin/realm

header:
	@.ci/generate-header

packages:
	@.ci/install-packages libsodium-dev libpcre2-dev libedit-dev libmbedtls-dev gcc g++ binutils python3-venv

test: test-packages
	@.ci/test

test-packages:
	@.ci/install-packages libsodium-dev libpcre2-dev libedit-dev libmbedtls-dev libpython3-dev python3-venv gcc \
		g++ binutils pkg-config valgrind libsqlite3-dev liblmdb-dev chromium chromium-driver

bench: lib
	@.ci/install-packages libsqlite3-dev liblmdb-dev python3-venv
	@Benchmarks/run --no-build --write

demo: lib
	@.ci/install-packages libpython3-dev python3-venv
	@Examples/airports/run-demo

docs:
	@.ci/install-packages python3-venv
	@Tests/docs/site

install: lib
	install -d "$(DESTDIR)$(PREFIX)/lib/pkgconfig" "$(DESTDIR)$(PREFIX)/include" \
		"$(DESTDIR)$(PREFIX)/bin"
	install -m 755 --strip build/lib/librealm.so "$(DESTDIR)$(PREFIX)/lib/librealm.so"
	install -m 755 --strip build/lib/librealm-import.so \
		"$(DESTDIR)$(PREFIX)/lib/librealm-import.so"
	install -m 755 --strip build/bin/realm "$(DESTDIR)$(PREFIX)/bin/realm"
	install -m 644 include/realm.h "$(DESTDIR)$(PREFIX)/include/realm.h"
	install -d "$(SHARE)/man/man1" "$(SHARE)/bash-completion/completions" \
		"$(SHARE)/zsh/site-functions" "$(SHARE)/fish/vendor_completions.d"
	.ci/generate-manual build/bin/realm > "$(SHARE)/man/man1/realm.1"
	build/bin/realm --generate-completion-script bash > "$(SHARE)/bash-completion/completions/realm"
	build/bin/realm --generate-completion-script zsh > "$(SHARE)/zsh/site-functions/_realm"
	build/bin/realm --generate-completion-script fish > "$(SHARE)/fish/vendor_completions.d/realm.fish"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' realm.pc.in \
		> "$(DESTDIR)$(PREFIX)/lib/pkgconfig/realm.pc"

clean:
	rm -rf build .build .build-*
