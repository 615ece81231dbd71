#include "io/dicom/dcmtk_setup.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dctag.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <algorithm>
#include <mutex>
#include <string_view>

#include "core/error.h"

namespace lull::io {
namespace {

/// Throws an error if DCMTK has no dictionary of attributes. Without a dictionary, DCMTK finds no
/// image in files with implicit VR, which do not state the types of attributes.
void check_dictionary() {
  if (DcmTag(0x0028, 0x0010).getEVR() != EVR_US)
    throw BadData(
        "DICOM images cannot be read (DCMTK has found no dictionary of attributes); unset the "
        "variable DCMDICTPATH, or install DCMTK again");
}

}  // namespace

void set_up_dcmtk() {
  static std::once_flag once;
  std::call_once(once, [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    check_dictionary();
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
  });
}

std::string dicom_text(DcmItem& item, const DcmTagKey& tag) {
  OFString value;
  if (item.findAndGetOFStringArray(tag, value).bad()) return {};
  std::string text(value.c_str(), value.size());
  const std::size_t end = text.find_last_not_of(std::string_view(" \0\n\r\t", 5));
  text.erase(end == text.npos ? 0 : end + 1);
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 32; }, ' ');
  return text;
}

}  // namespace lull::io
