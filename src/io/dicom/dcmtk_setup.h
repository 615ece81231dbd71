#pragma once
// Prepares the library DCMTK. Builds without DCMTK do not include this header.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>

#include <string>

namespace lull::io {

/// Registers DCMTK's decoders for compressed samples and disables DCMTK's messages. Further calls
/// have no effect.
/// @throws BadData  DCMTK has no dictionary of attributes
void set_up_dcmtk();

/// Returns all values of an attribute as text without padding; empty if the data set does not have
/// the attribute. The function replaces control characters by spaces, because messages of one line
/// may contain the text.
std::string dicom_text(DcmItem& item, const DcmTagKey& tag);

}  // namespace lull::io
