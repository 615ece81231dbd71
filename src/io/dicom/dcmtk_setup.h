#pragma once
// Prepares DCMTK. Only files of builds with DCMTK include it.

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcfilefo.h>

#include <string>

namespace lull::io {

/// Registers the decoders for compressed samples and turns DCMTK's messages off. Further calls have
/// no effect.
void set_up_dcmtk();

/// Returns the text of an attribute, with all its values, without padding; empty if it is absent.
/// Control characters become spaces, because texts become parts of messages of one line.
std::string dicom_text(DcmItem& item, const DcmTagKey& tag);

}  // namespace lull::io
