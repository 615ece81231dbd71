#!/usr/bin/env bash
# packaging/deb/build.sh TREE OUT: makes the Debian packages of this distribution in OUT from the
# build tree TREE, which was configured with the prefix /usr. All files that `cmake --install` writes
# go into one of the packages of packages.sh, by their place.
source packaging/common.sh
tree=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
source packaging/deb/packages.sh
source /etc/os-release
case $ID in debian) suffix=deb$VERSION_ID ;; *) suffix=$ID$VERSION_ID ;; esac
version=$(lull_version)-1+$suffix
architecture=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer=${LULL_MAINTAINER:-lull maintainers <maintainers@lull.example>}
work=$tree/deb
rm -rf "$work"
mkdir -p "$work/debian"

DESTDIR=$work/all cmake --install "$tree" --prefix /usr >/dev/null
# Debian's zsh reads another folder; README and LICENSE are not for a package.
all=$work/all/usr
mkdir -p "$all/share/zsh/vendor-completions"
mv "$all/share/zsh/site-functions/_lull" "$all/share/zsh/vendor-completions/"
rmdir "$all/share/zsh/site-functions"
rm -f "$all"/share/doc/lull/{LICENSE,README.md}

# Moves each file to the first package whose patterns match its path below /usr.
(cd "$all" && find . \( -type f -o -type l \) -printf '%P\n' | sort) | while read -r file; do
  package=$(package_of "$file" "$triplet")
  mkdir -p "$work/$package/usr/$(dirname "$file")"
  mv "$all/$file" "$work/$package/usr/$file"
done

{ printf 'Source: lull\nSection: video\nPriority: optional\nMaintainer: %s\n' "$maintainer"
  for package in "${packages[@]}"; do
    [[ ! -d $work/$package ]] || printf '\nPackage: %s\nArchitecture: any\n' "$package"
  done; } >"$work/debian/control"

# Programs and shared libraries without debug information; static ones keep their symbols.
find "$work" -type f \( -path '*/bin/*' -o -name '*.so' -o -name '*.so.*' \) \
  -exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} +
find "$work" -type f -name '*.a' \
  -exec strip --strip-debug --enable-deterministic-archives {} +

if [[ -d $work/liblull1 ]]; then  # for the dependencies of the other packages
  printf 'liblull 1 liblull1 (>= %s)\n' "$(lull_version)" >"$work/debian/shlibs.local"
fi

documents() { # PACKAGE
  local folder=$work/$1/usr/share/doc/$1
  mkdir -p "$folder"
  gzip -9n <CHANGELOG.md >"$folder/changelog.gz"
  printf 'lull (%s) unstable; urgency=medium\n\n  * Release %s: see changelog.gz.\n\n -- %s  %s\n' \
    "$version" "$(lull_version)" "$maintainer" "$(in_days "$SOURCE_DATE_EPOCH")" |
    gzip -9n >"$folder/changelog.Debian.gz"
  cp packaging/deb/copyright "$folder/copyright"
  find "$work/$1/usr" -path '*/man/*' -name '*.1' -exec gzip -9n {} +
}

control() { # PACKAGE
  local folder=$work/$1 libraries depends files
  mapfile -t files < <(find "$folder" -type f \( -path '*/bin/*' -o -name '*.so.*' -o -name '*.so' \))
  libraries=
  if (( ${#files[@]} )); then
    libraries=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info "-l$work/liblull1/usr/lib/$triplet" \
      "${files[@]/#/-e}" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  fi
  depends=$(depends_of "$1" "$version" | paste -sd, | sed 's/,/, /g')
  mkdir -p "$folder/DEBIAN"
  { printf 'Package: %s\nSource: lull\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' \
      "$1" "$version" "$architecture" "$maintainer"
    printf 'Installed-Size: %s\n' "$(du -k --apparent-size -s --exclude=DEBIAN "$folder" | cut -f1)"
    printf 'Depends: %s\n' "$depends${depends:+${libraries:+, }}$libraries"
    describe "$1"; } >"$folder/DEBIAN/control"
  (cd "$folder" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$folder/DEBIAN/md5sums"
  if [[ $1 == liblull1 ]]; then
    printf 'liblull 1 liblull1 (>= %s)\n' "$(lull_version)" >"$folder/DEBIAN/shlibs"
    printf 'activate-noawait ldconfig\n' >"$folder/DEBIAN/triggers"
  fi
}

for package in "${packages[@]}"; do
  [[ -d $work/$package ]] || continue
  documents "$package"
  control "$package"
  chmod -R u=rwX,go=rX "$work/$package"
  find "$work/$package/usr" -type f ! -path '*/bin/*' ! -path '*/libexec/*' -exec chmod 644 {} +
  find "$work/$package" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zxz -z6 --build "$work/$package" \
    "$out/${package}_${version}_$architecture.deb" >/dev/null
done
if [[ -n $(find "$all" -type f) ]]; then
  say "files of no package: $(find "$all" -type f)"
  exit 1
fi
