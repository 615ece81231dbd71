// Replaces raw_libraw.cpp in builds without LibRaw.

#include "core/error.h"
#include "io/raw/raw_picture.h"

namespace lull::io {

RawPicture read_raw(const std::string& path, std::int64_t) {
  throw BadData("'" + path +
                "' is a raw photograph (this build of lull has no LibRaw); build lull with "
                "libraw-dev, or develop the photograph first");
}

Frame develop(std::span<const std::uint8_t>, Curve) {
  throw InvalidArgument("a developed picture (this build of lull has no LibRaw); write a DNG file");
}

}  // namespace lull::io
