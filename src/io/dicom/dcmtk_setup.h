#pragma once
// Prepares the library DCMTK. Builds without DCMTK do not include this header.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>

#include <string>

namespace lull::io {

/// Registers DCMTK's decoders for compressed samples and disables DCMTK's messages. Further calls
/// have no effect.
/// @throws BadData if DCMTK has no dictionary of attributes
void set_up_dcmtk();

/// Returns the text of an attribute with all its values, without padding. The text is empty if the
/// data set does not have the attribute. Control characters become spaces, so that messages that
/// contain the text have only one line.
std::string dicom_text(DcmItem& item, const DcmTagKey& tag);

}  // namespace lull::io
