#include "common/base/regular_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "common/base/file_descriptor.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

class RegularFileTest : public ::testing::Test {
 protected:
  RegularFileTest() { std::filesystem::create_directories(folder_); }
  ~RegularFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string ErrorOf(const std::string& path) {
    return std::string(OpenRegular(path).status().message());
  }

  const std::string folder_ = ::testing::TempDir() + "regular_file_test";
};

TEST_F(RegularFileTest, OpensAFileAlsoThroughALink) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << "four";
  std::filesystem::create_symlink(path, folder_ + "/link");
  for (const char* name : {"/file", "/link"}) {
    const auto opened = OpenRegular(folder_ + name);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->state.st_size, 4);
    EXPECT_TRUE(opened->file.is_open());
  }
}

// Opening one of them would block, or do something.
TEST_F(RegularFileTest, RefusesWhatIsNoFile) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  EXPECT_EQ(ErrorOf(pipe), pipe + ": is a pipe, expected a regular file");
  EXPECT_EQ(ErrorOf(folder_),
            folder_ + ": is a folder, expected a regular file");
  EXPECT_EQ(ErrorOf("/dev/null"),
            "/dev/null: is a device, expected a regular file");
  EXPECT_EQ(OpenRegular("/dev/null").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenRegular(folder_ + "/none").status().code(),
            absl::StatusCode::kNotFound);

  const std::string path = "/proc/self/cwd/regular_file_test_socket";
  const FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof(address)),
            0);
  EXPECT_EQ(ErrorOf(path), path + ": is a socket, expected a regular file");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace paceline
