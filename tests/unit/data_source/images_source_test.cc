#include "common/data_source/images_source.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/config/yaml_reader.h"
#include "common/data_source/image_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

using DataSourcePtr = std::unique_ptr<const DataSource>;

class ImagesSourceTest : public ::testing::Test {
 protected:
  ImagesSourceTest()
      : folder_(fs::path(::testing::TempDir()) / "images_source_test") {
    fs::remove_all(folder_);
    // The folder of tests/interop/image_expected.py.
    for (const char* file :
         {"dogs/420.jpg", "dogs/gray.jpg", "dogs/rgb.png",
          "cats/progressive.jpg", "cats/Rotated.JPG", "cats/rgba.png",
          "cats/a/444.jpg", "cats/a-b/422.jpg", "birds/restart.jpg",
          "birds/cmyk.jpg"}) {
      Copy(file);
    }
  }
  ~ImagesSourceTest() override { fs::remove_all(folder_); }

  // Copies the fixture of the same name in lower case.
  void Copy(const std::string& file) {
    const fs::path path = folder_ / file;
    fs::create_directories(path.parent_path());
    fs::copy_file(fs::path(PACELINE_SOURCE_DIR "/tests/unit/image/fixtures") /
                      absl::AsciiStrToLower(path.filename().string()),
                  path);
  }

  absl::StatusOr<ImagesSource> ReadSource(Value options) {
    options.as_map().push_back({"folder", folder_.string()});
    return FieldsOf(static_cast<const ImagesSource*>(nullptr))
        .Read(options, Path("images"));
  }

  // `fields`: YAML of what the job says beside the folder.
  absl::StatusOr<DataSourcePtr> Open(
      const std::string& fields = "",
      Contents contents = Contents::kFeaturesAndLabels) {
    ASSIGN_OR_RETURN(Value value,
                     ReadYaml(absl::StrCat("{", fields, "}"), "y", 9999));
    ASSIGN_OR_RETURN(const ImagesSource source, ReadSource(std::move(value)));
    return OpenImagesSource(source, contents);
  }

  std::string ErrorOf(const std::string& fields = "") {
    return std::string(Open(fields).status().message());
  }

  const fs::path folder_;
};

std::vector<float> FloatsOf(const Elements& elements) {
  if (elements.type == ElementType::kInt32) {
    const auto* ids = reinterpret_cast<const int32_t*>(elements.data);
    return {ids, ids + elements.count};
  }
  EXPECT_EQ(elements.type, ElementType::kFloat32);
  const auto* values = reinterpret_cast<const float*>(elements.data);
  return {values, values + elements.count};
}

void ExpectNear(const std::vector<float>& values,
                const std::vector<float>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 0.01) << i;
  }
}

TEST_F(ImagesSourceTest, GivesWhatKerasGives) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/image_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json cases = json::parse(*text)["folders"];
  ASSERT_GE(cases.size(), 7);
  for (const json& each : cases) {
    SCOPED_TRACE(each["options"].dump());
    auto source =
        ReadSource(ValueFromJson(nlohmann::ordered_json(each["options"])));
    ASSERT_TRUE(source.ok()) << source.status();
    source->image_size = {3, 4};
    const auto opened = OpenImagesSource(*source);
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_EQ((*opened)->example_count(), std::ssize(each["files"]));
    if (!each.contains("pixels")) continue;
    const auto reader = *(*opened)->MakeReader();
    for (int64_t i = 0; i < (*opened)->example_count(); ++i) {
      const auto example = reader->Read(i);
      ASSERT_TRUE(example.ok()) << example.status();
      ExpectNear(FloatsOf((*example)->features[0]), each["pixels"][i]);
      ExpectNear(FloatsOf((*example)->labels[0]), each["labels"][i]);
    }
  }
}

TEST_F(ImagesSourceTest, SplitsBySeedAsKerasDoes) {
  const auto text = ReadFile(
      PACELINE_SOURCE_DIR "/tests/interop/image_expected.json", 1 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  const json cases = json::parse(*text)["folders"];
  const auto list = ImageList::Read(folder_.string(), std::nullopt, false);
  ASSERT_TRUE(list.ok()) << list.status();
  for (const json& each : cases) {
    const json& options = each["options"];
    if (!options.contains("seed")) continue;
    SCOPED_TRACE(options.dump());
    KerasSplit split = {options["validation_split"], Subset::kTraining,
                        options["seed"]};
    if (options["subset"] == "validation") split.subset = Subset::kValidation;
    std::vector<std::string> files;
    for (const uint32_t image : ExamplesOf(split, list->size())) {
      std::string path;
      list->GetPath(image, path);
      files.push_back(fs::path(path).lexically_relative(folder_).string());
    }
    EXPECT_EQ(files, each["files"]);
  }
}

TEST_F(ImagesSourceTest, HasSpecs) {
  const auto source = Open("image_size: 32, color_mode: grayscale");
  ASSERT_TRUE(source.ok()) << source.status();
  const ExampleSpec& spec = (*source)->spec();
  EXPECT_EQ(spec.features[0].shape, (Shape{32, 32, 1}));
  EXPECT_EQ(spec.features[0].type, ElementType::kFloat32);
  EXPECT_EQ(spec.labels[0].shape, Shape());
  EXPECT_TRUE((*source)->CheckClassIds(0, {3}).ok());
  EXPECT_TRUE((*source)->Files().has_file_per_example);
  EXPECT_EQ((*source)->Files().FilesWithin(7), 7);
  EXPECT_EQ((*source)->CheckClassIds(0, {2}).code(),
            absl::StatusCode::kInvalidArgument);
  const auto features = Open("", Contents::kFeatures);
  ASSERT_TRUE(features.ok()) << features.status();
  EXPECT_TRUE((*features)->spec().labels.empty());
  EXPECT_EQ((*features)->spec().features[0].shape, (Shape{256, 256, 3}));
}

TEST_F(ImagesSourceTest, KnowsClassesWithoutReadingImages) {
  const auto source =
      Open("validation_split: 0.5, subset: training, seed: 1, image_size: 8");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT((*source)->ClassNames(0),
              testing::ElementsAre("birds", "cats", "dogs"));
  auto reader = (*source)->MakeReader();
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (int64_t i = 0; i < (*source)->example_count(); ++i) {
    const auto example = (*reader)->Read(i);
    ASSERT_TRUE(example.ok()) << example.status();
    EXPECT_THAT(FloatsOf((*example)->labels[0]),
                testing::ElementsAre(*(*source)->KnownClass(i)));
  }
}

TEST_F(ImagesSourceTest, VisitsTheFilesOfItsExamples) {
  const auto files_of = [this](const std::string& fields) {
    std::vector<std::string> files;
    (*Open(fields))->VisitFolderFiles([&](const std::string& path) {
      files.push_back(fs::relative(path, folder_));
    });
    return files;
  };
  const std::vector<std::string> all = files_of("");
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all[0], "birds/cmyk.jpg");
  EXPECT_EQ(all[9], "dogs/rgb.png");
  EXPECT_EQ(files_of("validation_split: 0.2, subset: validation, shuffle: "
                     "false"),
            (std::vector<std::string>{all[8], all[9]}));
}

TEST_F(ImagesSourceTest, RefusesOptionsThatDoNotFit) {
  EXPECT_THAT(ErrorOf("validation_split: 0.2"),
              HasSubstr("`validation_split` and `subset` together"));
  EXPECT_THAT(ErrorOf("validation_split: 0.2, subset: training"),
              HasSubstr("expected a `seed`"));
  EXPECT_THAT(ErrorOf("validation_split: 0.01, subset: validation, seed: 1"),
              HasSubstr("of 10 images none is in the subset"));
  EXPECT_THAT(ErrorOf("label_mode: binary"), HasSubstr("has 3 classes"));
  EXPECT_THAT(ErrorOf("image_size: [0, 4]"), HasSubstr("images.image_size[0]"));
  EXPECT_THAT(ErrorOf("class_names: [cats, dog]"),
              AllOf(HasSubstr("\"dog\""), HasSubstr("dogs")));
  EXPECT_THAT(ErrorOf("class_names: [cats, cats]"), HasSubstr("twice"));
}

TEST_F(ImagesSourceTest, RefusesAnEmptyClass) {
  fs::create_directories(folder_ / "ants");
  EXPECT_THAT(ErrorOf(), HasSubstr("ants: the class has no images"));
  EXPECT_TRUE(Open("class_names: [cats, dogs]").ok());
}

TEST_F(ImagesSourceTest, RefusesNamesThatAreNotUtf8) {
  fs::copy_file(folder_ / "dogs/420.jpg", folder_ / "dogs/\xff.jpg");
  EXPECT_THAT(ErrorOf(),
              AllOf(HasSubstr("dogs/\\xff.jpg"), HasSubstr("not valid UTF-8")));
}

TEST_F(ImagesSourceTest, RefusesLinksThatLeadOut) {
  fs::create_symlink(PACELINE_SOURCE_DIR "/tests/unit/image/fixtures/420.jpg",
                     folder_ / "dogs/link.jpg");
  EXPECT_THAT(ErrorOf(),
              AllOf(HasSubstr("dogs/link.jpg"), HasSubstr("leads out of")));
  fs::remove(folder_ / "dogs/link.jpg");
  fs::create_directory_symlink("/", folder_ / "root");
  EXPECT_THAT(ErrorOf(), HasSubstr("leads out of"));
}

TEST_F(ImagesSourceTest, RefusesLinksThatLeadOutLater) {
  const auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  const auto reader = *(*source)->MakeReader();
  fs::remove(folder_ / "dogs/rgb.png");
  fs::create_symlink(PACELINE_SOURCE_DIR "/tests/unit/image/fixtures/rgb.png",
                     folder_ / "dogs/rgb.png");
  const absl::Status error = reader->Read(9).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(error.message()),
              AllOf(HasSubstr("dogs/rgb.png"), HasSubstr("leads out of")));
}

TEST_F(ImagesSourceTest, RefusesFoldersThatLinksLeadToTwice) {
  fs::create_directory_symlink("../cats", folder_ / "dogs/a");
  fs::create_directory_symlink("../cats", folder_ / "dogs/b");
  EXPECT_TRUE(Open().ok());
  EXPECT_THAT(ErrorOf("follow_links: true"), HasSubstr("folder twice"));
}

TEST_F(ImagesSourceTest, FollowsLinksThatStayWithin) {
  fs::create_symlink("../cats/rgba.png", folder_ / "dogs/link.png");
  fs::create_directory_symlink("../cats", folder_ / "dogs/also");
  auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 11);
  source = Open("follow_links: true");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ((*source)->example_count(), 16);
  fs::create_directory_symlink(".", folder_ / "dogs/loop");
  EXPECT_THAT(ErrorOf("follow_links: true"), HasSubstr("that it is in"));
}

TEST_F(ImagesSourceTest, RefusesFormatsThatItCannotRead) {
  std::ofstream(folder_ / "dogs/x.gif") << "GIF89a";
  EXPECT_THAT(ErrorOf(), AllOf(HasSubstr("dogs/x.gif"),
                               HasSubstr("expected JPEG or PNG")));
}

// Before anything of them is read.
TEST_F(ImagesSourceTest, RefusesPipesAndSockets) {
  const std::string path = (folder_ / "cats/a/9.jpg").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const absl::Status status = Open().status();
  EXPECT_EQ(status,
            absl::InvalidArgumentError(
                path + ": is no regular file, expected a JPEG or PNG image"));
  fs::remove(path);
  fs::create_symlink("../pipe", path);
  ASSERT_EQ(mkfifo((folder_ / "cats/pipe").c_str(), 0600), 0);
  EXPECT_EQ(Open().status(), status) << "by a link";
  fs::remove(path);

  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket, reinterpret_cast<struct sockaddr*>(&address),
                 sizeof(address)),
            0);
  close(socket);
  EXPECT_EQ(Open().status(), status);
}

// It was an image when the folder was read.
TEST_F(ImagesSourceTest, RefusesAPipeThatTakesTheImagesPlace) {
  const auto source = Open("image_size: 8");
  ASSERT_TRUE(source.ok()) << source.status();
  const fs::path path = folder_ / "birds/cmyk.jpg";
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto reader = *(*source)->MakeReader();
  EXPECT_EQ(reader->Read(0).status(),
            absl::InvalidArgumentError(path.string() +
                                       ": is a pipe, expected a regular file"));
}

TEST_F(ImagesSourceTest, RefusesAFolderWithoutClasses) {
  fs::remove_all(folder_);
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  fs::create_directories(folder_);
  EXPECT_THAT(ErrorOf(), HasSubstr("has no folders"));
}

TEST_F(ImagesSourceTest, AnErrorOfAnImageNamesItsFile) {
  const auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  const auto reader = *(*source)->MakeReader();
  ASSERT_TRUE(reader->Read(9).ok());
  fs::resize_file(folder_ / "dogs/rgb.png", 90);
  absl::Status error = reader->Read(9).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(error.message()),
              AllOf(HasSubstr("dogs/rgb.png: "), HasSubstr("at byte ")));
  fs::resize_file(folder_ / "dogs/rgb.png", 0);
  EXPECT_EQ(
      reader->Read(9).status(),
      absl::InvalidArgumentError((folder_ / "dogs/rgb.png").string() +
                                 ": is empty, expected a JPEG or PNG image"));
  fs::remove(folder_ / "dogs/rgb.png");
  error = reader->Read(9).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(error.message()), HasSubstr("dogs/rgb.png"));
  EXPECT_TRUE(reader->Read(8).ok());
}

}  // namespace
}  // namespace paceline
