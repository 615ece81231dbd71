// The content of layers according to their names, as renderers and compositing programs write them.

#include "io/exr/layer_names.h"

#include <gtest/gtest.h>

namespace lull::io::test {
namespace {

TEST(LayerNames, RecogniseLight) {
  for (const char* name : {"",
                           "RGBA",
                           "Combined",
                           "ViewLayer.Combined",
                           "ViewLayer.Noisy Image",
                           "beauty",
                           "Ci",
                           "diffuse",
                           "specular",
                           "direct_diffuse",
                           "indirectSpecular",
                           "DiffDir",
                           "GlossInd",
                           "VolumeDir",
                           "Emit",
                           "Env",
                           "AO",
                           "Shadow",
                           "right",
                           "light_key",
                           "LightGroup01",
                           "sss",
                           "coat",
                           "transmission",
                           "reflection",
                           "refraction",
                           "GI",
                           "caustics",
                           "background",
                           "Depth of field.Combined",
                           "rim",
                           "hdri",
                           "video",
                           "rapid",
                           "grid",
                           "fluid",
                           "solid"})
    EXPECT_EQ(content_by_name(name), LayerContent::colour) << name;
}

TEST(LayerNames, RecogniseData) {
  for (const char* name : {"depth",
                           "Depth",
                           "DEPTH",
                           "ZDepth",
                           "z",
                           "Z",
                           "ViewLayer.Depth",
                           "camera_depth",
                           "position",
                           "P",
                           "worldPosition",
                           "world_pos",
                           "Pref",
                           "uv",
                           "UV",
                           "UVMap.uv",
                           "st",
                           "motion",
                           "MotionVector",
                           "motionvectors",
                           "Vector",
                           "velocity",
                           "mv",
                           "N",
                           "normal",
                           "Normals",
                           "bumpNormals",
                           "ViewLayer.Denoising Normal",
                           "ViewLayer.Denoising Albedo",
                           "DiffCol",
                           "GlossCol",
                           "albedo",
                           "diffuse_albedo",
                           "variance",
                           "diffuse_variance",
                           "mse",
                           "specular_mse",
                           "halfA",
                           "half_a",
                           "Debug Sample Count",
                           "sampleRate",
                           "MultiMatteElement",
                           "mask01",
                           "alpha",
                           "opacity",
                           "cputime",
                           "zfiltered",
                           "Pworld",
                           "__Nworld",
                           "P_world",
                           "N_cam",
                           "dPdu",
                           "dPdtime",
                           "dPcameradtime",
                           "displacement",
                           "VRaySamplerInfo",
                           "albedo.RGBA",
                           "normal.rgb",
                           "depth.C"})
    EXPECT_EQ(content_by_name(name), LayerContent::data) << name;
}

TEST(LayerNames, RecogniseIds) {
  for (const char* name :
       {"crypto00", "CryptoObject00", "cryptomatte", "ViewLayer.CryptoMaterial01", "uCryptoAsset",
        "CRYPTO_MATERIAL", "id", "ID", "ObjectID", "objectid", "OBJECTID", "object_id", "MtlID",
        "materialId", "IndexOB", "IndexMA", "ViewLayer.IndexOB", "nodeID", "cryptoObject.RGBA"})
    EXPECT_EQ(content_by_name(name), LayerContent::ids) << name;
}

TEST(LayerNames, RankPictures) {
  EXPECT_EQ(picture_rank(""), 0);
  EXPECT_LT(picture_rank("ViewLayer.noisy image"), picture_rank("ViewLayer.Combined"));
  EXPECT_EQ(picture_rank("diffuse"), -1);
}

}  // namespace
}  // namespace lull::io::test
