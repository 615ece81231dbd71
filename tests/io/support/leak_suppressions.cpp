// x264 2.164 and x265 3.5 leak some kilobytes for each encoder; LeakSanitizer calls this function.

extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libx264\nleak:libx265\nleak:libaom\n";
}
