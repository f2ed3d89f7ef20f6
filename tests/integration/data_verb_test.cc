// `coordinator data`: what a job's data has, and how its first batch looks.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/image/png_decoder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/integration/harness/small_job.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kFashionMnistJob[] =
    PACELINE_SOURCE_DIR "/deploy/jobs/fashion_mnist.yaml";

// Width of the frame around each image of a sheet.
constexpr int kGap = 2;

constexpr char kImagesJob[] = R"(name: pictures
strategy: mirrored
seed: 3
model:
  layers:
    - Input: {shape: [16, 12, 3], name: picture}
    - Flatten: {}
    - Dense: {units: 2, name: animal}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {SGD: {learning_rate: 0.1}}
data:
  train:
    images: {folder: pictures, image_size: [16, 12]}
    shuffle: true
batch_size_per_replica: 4
epochs: 1
)";

class DataVerbTest : public testing::Test {
 protected:
  Process Start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "data");
    return job_.Coordinator(arguments);
  }

  std::string TextOf(const std::vector<std::string>& arguments) const {
    Process data = Start(arguments);
    EXPECT_EQ(data.Wait(kJobLimit), 0) << data.Errors();
    EXPECT_EQ(data.Errors(), "");
    return data.Output();
  }

  json JsonOf(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", "json"});
    return json::parse(TextOf(arguments));
  }

  // What it says of a command line that it refuses.
  std::string ErrorOf(const std::vector<std::string>& arguments) const {
    Process data = Start(arguments);
    EXPECT_EQ(data.Wait(kJobLimit), 2);
    EXPECT_EQ(data.Output(), "");
    EXPECT_THAT(Lines(data.Errors()), SizeIs(1));
    return data.Errors();
  }

  std::string png() const { return job_.folder() / "batch.png"; }

  PixelBuffer Picture(int channels) const {
    PixelBuffer pixels;
    const absl::Status status = DecodePng(ReadText(png()), channels, pixels);
    EXPECT_TRUE(status.ok()) << status;
    return pixels;
  }

  // The job that has a folder of images, of two classes.
  std::string ImagesJob() const {
    const std::string path = job_.folder() / "images.yaml";
    WriteText(path, kImagesJob);
    for (const char* file : {"cats/420.jpg", "cats/rgb.png", "cats/rotated.jpg",
                             "dogs/422.jpg", "dogs/444.jpg"}) {
      const fs::path to = job_.folder() / absl::StrCat("pictures/", file);
      fs::create_directories(to.parent_path());
      fs::copy_file(fs::path(PACELINE_SOURCE_DIR "/tests/unit/image/fixtures") /
                        to.filename(),
                    to);
    }
    return path;
  }

  const SmallJob job_;
};

// The pixels of the image with this index, of `columns` in a row.
std::vector<std::vector<uint8_t>> Tile(PixelBuffer& sheet, ImageSize image,
                                       int channels, int columns, int index) {
  std::vector<std::vector<uint8_t>> tile;
  const int64_t top = index / columns * (image.height + kGap) + kGap;
  const int64_t left = index % columns * (image.width + kGap) + kGap;
  for (int64_t y = top; y < top + image.height; ++y) {
    for (int64_t x = left; x < left + image.width; ++x) {
      const uint8_t* at = sheet.row(y) + x * channels;
      tile.emplace_back(at, at + channels);
    }
  }
  return tile;
}

TEST_F(DataVerbTest, FashionMnistHasItsNumbers) {
  const json report = JsonOf({kFashionMnistJob, "--png", png()});
  ASSERT_THAT(report["sets"], SizeIs(2));
  const int examples[] = {60000, 10000};
  for (int i = 0; i < 2; ++i) {
    const json& set = report["sets"][i];
    EXPECT_EQ(set["name"], i == 0 ? "data.train" : "data.test");
    EXPECT_EQ(set["examples"], examples[i]);
    EXPECT_EQ(set["counted_examples"], examples[i]);
    const json& input = set["inputs"][0];
    EXPECT_EQ(input["shape"], json({28, 28, 1}));
    EXPECT_EQ(input["stored"]["shape"], json({28, 28}));
    EXPECT_EQ(input["stored"]["type"], "uint8");
    EXPECT_EQ(input["values"]["count"], examples[i] * 784);
    EXPECT_EQ(input["values"]["min"], 0);
    EXPECT_EQ(input["values"]["max"], 1);
    EXPECT_NEAR(input["values"]["mean"].get<double>(), 0.2865, 0.0005);
    const json& classes = set["labels"][0]["classes"];
    ASSERT_THAT(classes, SizeIs(10));
    for (const json& each : classes) {
      EXPECT_EQ(each["examples"], examples[i] / 10);
    }
  }
  // 64 images in a square.
  EXPECT_EQ(report["first_batch"]["images"], 64);
  EXPECT_EQ(Picture(1).size(), (ImageSize{242, 242}));
}

TEST_F(DataVerbTest, ThePictureHasTheFirstBatchAsItIsStored) {
  const json report = JsonOf({job_.path(), "--png", png(), "--examples", "7",
                              "--set", "data.train.shuffle=false"});
  EXPECT_EQ(report["sets"][0]["counted_examples"], 7);
  const double black = report["first_batch"]["black"];
  const double white = report["first_batch"]["white"];
  const int images = report["first_batch"]["images"];
  EXPECT_EQ(images, report["sets"][0]["step_size"]);
  EXPECT_LT(black, white);
  const std::string idx = ReadText(job_.folder() / "train-images");
  PixelBuffer sheet = Picture(1);
  const int columns = static_cast<int>(sheet.size().width / (8 + kGap));
  for (int i = 0; i < images; ++i) {
    const auto tile = Tile(sheet, {8, 8}, 1, columns, i);
    for (int pixel = 0; pixel < 64; ++pixel) {
      const auto stored = static_cast<uint8_t>(idx[16 + 64 * i + pixel]);
      const double scaled = stored / 255.0;
      EXPECT_NEAR(tile[pixel][0], (scaled - black) / (white - black) * 255,
                  0.51)
          << i << " " << pixel;
    }
  }
}

TEST_F(DataVerbTest, AFolderOfImagesHasItsClasses) {
  const std::string job = ImagesJob();
  const std::string text = TextOf({job});
  EXPECT_THAT(text,
              HasSubstr("data.train: 5 examples; epochs of 2 steps of 4"));
  EXPECT_THAT(text, HasSubstr("2 classes, of all examples"));
  EXPECT_THAT(text, HasSubstr("0 cats"));
  // Classes are known without reading all images.
  const json report = JsonOf({job, "--examples", "1"});
  const json& label = report["sets"][0]["labels"][0];
  EXPECT_EQ(label["class_examples"], 5);
  EXPECT_EQ(label["classes"],
            json({{{"id", 0}, {"name", "cats"}, {"examples", 3}},
                  {{"id", 1}, {"name", "dogs"}, {"examples", 2}}}));
  EXPECT_EQ(report["sets"][0]["inputs"][0]["values"]["count"], 16 * 12 * 3);
}

TEST_F(DataVerbTest, ThePictureHasWhatRandomStepsMake) {
  const std::string job = ImagesJob();
  const auto tiles = [&](const std::string& steps) {
    TextOf({job, "--png", png(), "--set", "data.train.steps=" + steps});
    PixelBuffer sheet = Picture(3);
    const int columns = static_cast<int>(sheet.size().width / (12 + kGap));
    std::vector<std::vector<std::vector<uint8_t>>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(Tile(sheet, {16, 12}, 3, columns, i));
    }
    return all;
  };
  const auto plain = tiles("[]");
  const auto turned = tiles("[RandomFlip: {mode: horizontal}]");
  EXPECT_EQ(turned, tiles("[RandomFlip: {mode: horizontal}]"));
  int flipped = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    auto mirrored = plain[i];
    for (int y = 0; y < 16; ++y) {
      std::reverse(mirrored.begin() + y * 12, mirrored.begin() + y * 12 + 12);
    }
    EXPECT_THAT(turned[i], AnyOf(plain[i], mirrored));
    flipped += turned[i] == mirrored;
  }
  EXPECT_GT(flipped, 0);
  EXPECT_LT(flipped, 4);
}

TEST_F(DataVerbTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(ErrorOf({job_.path(), "--png", job_.folder() / "batch.jpg"}),
              AllOf(HasSubstr("--png "), HasSubstr("ends in .png")));
  EXPECT_THAT(ErrorOf({job_.path(), "--png", ""}),
              HasSubstr("--png \"\"; expected a file that ends in .png"));
  EXPECT_THAT(
      ErrorOf({job_.path(), "--png", png(), "--set",
               "data.train.idx.features=" + (job_.folder() / "absent")}),
      AllOf(HasSubstr("data.train"), HasSubstr("absent")));
  EXPECT_FALSE(fs::exists(png()));
  EXPECT_THAT(
      ErrorOf({job_.path(), "--png", job_.folder() / "absent/batch.png"}),
      AllOf(HasSubstr("--png "), HasSubstr("a folder that is there")));
  const std::string job = ImagesJob();
  WriteText(job_.folder() / "pictures/dogs/444.jpg", "no image");
  EXPECT_THAT(ErrorOf({job}),
              AllOf(HasSubstr("data.train"), HasSubstr("dogs/444.jpg")));
  Process skips = Start({job, "--set", "data.train.on_error=skip"});
  EXPECT_EQ(skips.Wait(kJobLimit), 0) << skips.Errors();
  EXPECT_THAT(skips.Output(), HasSubstr("1 example could not be read"));
  EXPECT_THAT(skips.Errors(),
              AllOf(HasSubstr("data.train"), HasSubstr("dogs/444.jpg"),
                    HasSubstr("1 example of epoch 1")));
}

}  // namespace
}  // namespace paceline
