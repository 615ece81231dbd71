// Replaces dicom_dcmtk.cpp and dicom_output_dcmtk.cpp in builds without DCMTK.

#include "core/error.h"
#include "io/dicom/dicom.h"
#include "io/dicom/dicom_output.h"

namespace lull::io {

ForeignVolume read_dicom(const std::string& path, const std::string&) {
  throw BadData("'" + path +
                "' is DICOM (this build of lull has no DCMTK); build lull with libdcmtk-dev, or "
                "convert it to NIfTI, for example with dcm2niix");
}

std::unique_ptr<VolumeWriter> open_dicom_output(const std::string&, const ForeignVolume&,
                                                const SinkOptions&) {
  throw InternalError("a DICOM output without DCMTK");
}

}  // namespace lull::io
