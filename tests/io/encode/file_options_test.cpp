// Options that name files are recognised for all encoders.

#include "io/encode/file_options.h"

#include <gtest/gtest.h>

namespace lull::io {
namespace {

TEST(EncoderFileOptions, OptionsThatNameFilesAreFoundInAnySpelling) {
  EXPECT_EQ(option_with_file({{"crf", "18"}, {"stats", "x.log"}}), "stats");
  EXPECT_EQ(option_with_file({{"passlogfile", "/tmp/x"}}), "passlogfile");
  for (const std::string value :
       {"dump-yuv=/tmp/x", "keyint=12:dump-yuv=x", "keyint=12:dump_yuv=x:bframes=3", "DUMP-YUV=x",
        "stats=a.log", "cqmfile=m.cfg", "log-level=none:opencl-clbin=b", "stats =x", "\tstats=x",
        "'stats'=x", "pass=1:st'at's=x", "st\\ats=x:pass=1", "pass=1 stats=x", "stats= x"})
    EXPECT_NE(option_with_file({{"x264-params", value}}), "") << value;
  EXPECT_EQ(option_with_file({{"x265-params", "crf=18:csv=/home/a/x:csv-log-level=2"}}),
            "x265-params: csv");
  EXPECT_EQ(option_with_file({{"svtav1-params", "preset=8:stats=x"}}), "svtav1-params: stats");
  EXPECT_EQ(option_with_file({{"kvazaar-params", "gop=8,roi=x.txt"}}), "kvazaar-params: roi");
  EXPECT_EQ(option_with_file({{"aom-params", "film-grain-table=t.tbl"}}),
            "aom-params: film-grain-table");
}

TEST(EncoderFileOptions, OptionsWithNumbersAndWordsAreAccepted) {
  EXPECT_EQ(option_with_file({}), "");
  EXPECT_EQ(option_with_file({{"preset", "slow"}, {"g", "250"}, {"crf", "18.5"}}), "");
  EXPECT_EQ(option_with_file({{"x264-params", "keyint=12:cqm=jvt:fps=30000/1001:psy-rd=1.0,0"}}),
            "");
  EXPECT_EQ(option_with_file({{"x265-params", "scaling-list=default:sao=0"}}), "");
  EXPECT_EQ(option_with_file({{"svtav1-params", "film-grain=8:tune=0"}}), "");
}

}  // namespace
}  // namespace lull::io
