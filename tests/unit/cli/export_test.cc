#include "coordinator/cli/export.h"

#include <sstream>
#include <string>

#include "common/base/file.h"
#include "common/export/export_checkpoint.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

absl::Status ExportTo(const std::string& format, const std::string& output) {
  std::ostringstream out;
  return Export({"/no/checkpoint", format, output}, out);
}

TEST(ExportTest, SuffixesOfOtherFormatsAreRefused) {
  const absl::Status status = ExportTo("onnx", "model.keras");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "model.keras is no name of a file of the format onnx; expected the "
            "suffix .onnx");
  EXPECT_EQ(ExportTo("keras", "model.weights.h5").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ExportTo("h5", "model.weights.h5").code(),
            absl::StatusCode::kInvalidArgument);
  // Keras would read it as a legacy file.
  EXPECT_EQ(ExportTo("weights", "model.h5").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ExportTest, TheSuffixIsThatOfAFormat) {
  EXPECT_EQ(ExportFormatOf("a/x.h5"), "h5");
  EXPECT_EQ(ExportFormatOf("a/x.weights.h5"), "weights");
  EXPECT_EQ(ExportFormatOf("a/x.keras"), "keras");
  EXPECT_EQ(ExportTo("h5", "model.h5").code(), absl::StatusCode::kNotFound);
}

TEST(ExportTest, OtherSuffixesAreTheUsersChoice) {
  for (const char* output : {"model.weights.h5", "model", "model.v1", ""}) {
    EXPECT_EQ(ExportTo("weights", output).code(), absl::StatusCode::kNotFound)
        << output;
  }
}

absl::Status ExportFile(const std::string& model, const std::string& format,
                        const std::string& output) {
  std::ostringstream out;
  return Export({model, format, output}, out);
}

TEST(ExportTest, KerasFilesAreNotWrittenAgain) {
  const std::string folder = testing::TempDir();
  const std::string model = folder + "export_test.keras";
  const std::string legacy = folder + "export_test.h5";
  ASSERT_TRUE(WriteFileAtomically(model, "no archive").ok());
  ASSERT_TRUE(WriteFileAtomically(legacy, "no HDF5").ok());
  EXPECT_EQ(ExportFile(model, "keras", folder + "other.keras").message(),
            model +
                " is a .keras file, of which keras cannot be made; expected "
                "--format weights, safetensors or onnx");
  EXPECT_EQ(ExportFile(legacy, "weights", folder + "x.weights.h5").message(),
            legacy +
                " is no .keras file, of which weights cannot be made; expected "
                "--format safetensors or onnx");
  EXPECT_EQ(ExportFile(model, "h5", folder + "x.h5").message(),
            model +
                " is a .keras file, of which h5 cannot be made; expected "
                "--format weights, safetensors or onnx");
  EXPECT_EQ(ExportFile(model, "onnx", folder + "x.onnx").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*ReadFile(model, 100), "no archive");
}

}  // namespace
}  // namespace paceline
