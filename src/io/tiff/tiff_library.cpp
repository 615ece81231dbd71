#include "io/tiff/tiff_library.h"

#include <cstdarg>
#include <cstdio>
#include <new>
#include <string_view>

namespace lull::io {
namespace {

int keep_message(TIFF*, void* message, const char*, const char* format, va_list arguments) {
  auto& kept = *static_cast<std::string*>(message);
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (kept.empty()) kept = text;
  while (!kept.empty() && (kept.back() == '.' || kept.back() == '\n')) kept.pop_back();
  return 1;
}

/// Treats some warnings of libtiff as errors, because they report damage: missing data that the
/// JPEG and fax decoders fill in, or tag values beyond the end of the file.
int keep_damage(TIFF* file, void* message, const char* module, const char* format,
                va_list arguments) {
  const std::string_view text = format;
  const bool is_damage = (module && std::string_view(module) == "JPEGLib") ||
                         text.starts_with("Premature E") || text.starts_with("IO error");
  return is_damage ? keep_message(file, message, module, format, arguments) : 1;
}

}  // namespace

TiffOptionsPtr tiff_options(std::string& message, tmsize_t max_bytes) {
  TiffOptionsPtr options(TIFFOpenOptionsAlloc());
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), max_bytes);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_message, &message);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), keep_damage, &message);
  return options;
}

}  // namespace lull::io
