#pragma once
// The scenes of render_scene: a yard and a study with balls, boxes and textures.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

struct Vec {
  float x = 0, y = 0, z = 0;
  friend Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
  friend Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
};
inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec unit(Vec a) { return a * (1 / std::sqrt(dot(a, a))); }
inline Vec mirrored(Vec d, Vec n) { return d - n * (2 * dot(n, d)); }
inline float fraction(float v) { return v - std::floor(v); }
inline constexpr float pi = std::numbers::pi_v<float>;

enum class Surface { matte, glossy, mirror, lamp };
struct Hit {
  float distance = 1e30f;
  Vec point, normal, albedo;
  Surface surface = Surface::matte;
};
struct Ball {
  Vec centre;
  float radius;
  Vec albedo;
  Surface surface;
};
struct Box {
  Vec low, high, albedo;
  Surface surface;
};

struct Scene {
  std::vector<Ball> balls;
  std::vector<Box> boxes;
  bool outdoors = true;
  Vec eye, target;
  Vec lamp_low, lamp_high, lamp_light;  // corners of a lamp that faces down (x and z)
  Vec sun = unit({.5f, .75f, .35f}), sun_light{9, 8, 6.5f};
};

inline Scene make_scene(const std::string& name, int frame) {
  const float t = static_cast<float>(frame);
  Scene s;
  if (name == "yard") {
    s.eye = {-3.6f + .05f * t, 1.9f, 6.5f}, s.target = {.1f, .8f, 0};
    for (int i = 0; i < 7; ++i) {
      const float a = 2.1f * static_cast<float>(i), r = .35f + .09f * static_cast<float>(i % 4);
      s.balls.push_back({{2.3f * std::sin(a) + .2f * static_cast<float>(i - 3), r,
                          1.9f * std::cos(1.7f * a) + .5f},
                         r,
                         {.3f + .1f * static_cast<float>(i), .75f - .09f * static_cast<float>(i),
                          .25f + .3f * static_cast<float>(i % 3)},
                         i % 3 == 1 ? Surface::glossy : Surface::matte});
    }
    s.balls[0].centre.x += .08f * t;
    for (int i = 0; i < 5; ++i)  // a fence
      s.boxes.push_back({{-3.f + 1.4f * static_cast<float>(i), 0, -2.4f},
                         {-2.7f + 1.4f * static_cast<float>(i), 2.2f, -2.2f},
                         {.55f, .4f, .28f},
                         Surface::matte});
    s.boxes.push_back(
        {{-3.2f, 1.4f, -2.45f}, {3.4f, 1.6f, -2.35f}, {.6f, .45f, .3f}, Surface::matte});
    s.boxes.push_back({{1.3f, 0, -.6f}, {2.3f, 1.5f, .4f}, {.8f, .78f, .74f}, Surface::matte});
    return s;
  }
  s.outdoors = false;
  s.eye = {.3f + .04f * t, 1.6f, 4.6f}, s.target = {0, 1.f, 0};
  s.lamp_low = {-1.6f, 2.98f, -1.2f}, s.lamp_high = {-.8f, 2.98f, -.4f},
  s.lamp_light = {26, 22, 15};
  s.boxes = {{{-1.3f, .7f, -.9f}, {1.5f, .8f, .7f}, {.5f, .33f, .2f}, Surface::matte},
             {{-1.2f, 0, -.8f}, {-1.1f, .7f, -.7f}, {.4f, .3f, .2f}, Surface::matte},
             {{1.3f, 0, .5f}, {1.4f, .7f, .6f}, {.4f, .3f, .2f}, Surface::matte},
             {{1.3f, 0, -.8f}, {1.4f, .7f, -.7f}, {.4f, .3f, .2f}, Surface::matte},
             {{-2.4f, 0, -2.3f}, {-1.7f, 2.2f, -1.6f}, {.65f, .6f, .2f}, Surface::matte},
             {{1.0f, 1.2f, -2.28f}, {2.0f, 2.1f, -2.2f}, {.9f, .9f, .9f}, Surface::glossy}};
  for (int i = 0; i < 6; ++i)  // books
    s.boxes.push_back(
        {{.5f + .11f * static_cast<float>(i), .8f, -.7f},
         {.6f + .11f * static_cast<float>(i), 1.2f + .05f * static_cast<float>(i % 3), -.3f},
         {.15f + .13f * static_cast<float>(i), .6f - .08f * static_cast<float>(i),
          .2f + .2f * static_cast<float>(i % 3)},
         Surface::matte});
  s.balls = {{{-.5f + .05f * t, 1.05f, .1f}, .25f, {.95f, .95f, .95f}, Surface::mirror},
             {{.15f, .95f, .3f}, .15f, {.8f, .25f, .2f}, Surface::glossy},
             {{-1.6f, .45f, 1.2f}, .45f, {.3f, .45f, .75f}, Surface::matte}};
  return s;
}

/// Textures with fine detail, coarse detail and flat areas.
inline Vec texture(const Scene& scene, Vec point, Vec normal, Vec albedo) {
  if (normal.y > .5f && point.y < .01f) {
    if (scene.outdoors) {  // slabs with joints and fine grit
      const float u = fraction(point.x * .8f), v = fraction(point.z * .8f);
      if (std::min(u, v) < .05f) return {.18f, .2f, .15f};
      const float grit = std::sin(point.x * 41) * std::sin(point.z * 53 + point.x * 17);
      return Vec{.62f, .58f, .52f} * (.85f + .15f * grit);
    }
    const float plank = fraction(point.x * 2.2f);  // a wooden floor
    const float grain = .5f + .5f * std::sin(point.z * 3 + 9 * std::sin(point.x * 14));
    return plank < .04f ? Vec{.12f, .08f, .05f} : Vec{.5f, .34f, .2f} * (.7f + .3f * grain);
  }
  if (!scene.outdoors && normal.z > .5f && point.z < -2.4f) {  // a wall with dots
    const float u = fraction(point.x * 3) - .5f, v = fraction(point.y * 3) - .5f;
    return u * u + v * v < .04f ? Vec{.3f, .4f, .55f} : Vec{.72f, .7f, .62f};
  }
  return albedo;
}
