// The options of a daemon, and what it asks of the machine.

#include "common/daemon/daemon_options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;

DaemonPlace Place() {
  DaemonPlace place;
  place.type = TaskType::kPs;
  place.coordinator = "127.0.0.1:2222";
  return place;
}

std::string ErrorOf(const DaemonFlags& flags, const DaemonPlace& place) {
  const auto options = ResolveDaemonOptions(flags, place);
  EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(options.status().message());
}

TEST(DaemonOptions, FlagsWinOverTheMachine) {
  DaemonFlags flags;
  flags.name = "node1-ps";
  flags.cores = 1.5;
  flags.memory = "2GiB";
  flags.labels = {"disk=ssd", "zone=a=b"};
  flags.advertise = "10.0.0.1";
  flags.data = {::testing::TempDir()};
  const auto options = ResolveDaemonOptions(flags, Place());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->name, "node1-ps");
  EXPECT_THAT(options->work_folder, EndsWith("/paceline-work/node1-ps"));
  EXPECT_EQ(options->work_folder.front(), '/');
  EXPECT_EQ(options->total.millicores(), 1500);
  EXPECT_EQ(options->total.memory_bytes(), uint64_t{2} << 30);
  EXPECT_THAT(options->labels,
              ElementsAre(Pair("disk", "ssd"), Pair("zone", "a=b")));
  EXPECT_EQ(options->advertised_host, "10.0.0.1");
  EXPECT_FALSE(options->secret.has_value());
}

TEST(DaemonOptions, DataIsInFoldersOrBehindUrls) {
  DaemonFlags flags;
  flags.name = "node1";
  flags.data = {"s3://bucket/", "/", "https://Host:443/data/"};
  const auto options = ResolveDaemonOptions(flags, Place());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->data_folders, ElementsAre("/"));
  EXPECT_THAT(options->data_access.from,
              ElementsAre("s3://bucket/", "https://host/data/"));
  EXPECT_THAT(options->data_access.cache, EndsWith("/node1/data-cache"));
  flags.data = {"/"};
  EXPECT_THAT(ResolveDaemonOptions(flags, Place())->data_access.from,
              ElementsAre("none"));
  flags.data = {"https://host/data"};
  EXPECT_THAT(ErrorOf(flags, Place()),
              HasSubstr("--data: \"https://host/data\": expected a slash"));
}

TEST(DaemonOptions, WithoutFlagsTheMachineSaysIt) {
  const auto options = ResolveDaemonOptions({}, Place());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->name, EndsWith("-ps"));
  EXPECT_GE(options->total.millicores(), 1);
  EXPECT_GE(options->total.memory_bytes(), 1 << 20);
}

TEST(DaemonOptions, TheCoordinatorHasThePortOfAllTasksIfNone) {
  DaemonPlace place = Place();
  place.coordinator = "localhost";
  const auto options = ResolveDaemonOptions({}, place);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->place.coordinator, "localhost:2222");
}

TEST(DaemonOptions, ACoordinatorElsewhereNeedsASecretOrInsecure) {
  DaemonPlace place = Place();
  place.coordinator = "head.example:2222";
  EXPECT_THAT(
      ErrorOf({}, place),
      AllOf(HasSubstr("the coordinator at head.example:2222 is beyond "
                      "this machine, and there is no secret"),
            HasSubstr("--secret-file"), HasSubstr("PACELINE_SECRET_FILE"),
            HasSubstr("--insecure")));
  place.is_insecure = true;
  EXPECT_TRUE(ResolveDaemonOptions({}, place).ok());

  const std::string path = ::testing::TempDir() + "daemon_options_secret";
  std::ofstream(path) << "0123456789abcdef0123456789abcdef\n";
  place.environment_secret_file = path;
  EXPECT_THAT(ErrorOf({}, place), HasSubstr("expected one of the two"));
  place.is_insecure = false;
  const auto options = ResolveDaemonOptions({}, place);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->secret->text(), "0123456789abcdef0123456789abcdef");
}

TEST(DaemonOptions, ErrorsNameTheOptionAndItsValue) {
  DaemonFlags flags;
  DaemonPlace place = Place();
  place.coordinator = "a b";
  EXPECT_EQ(ErrorOf(flags, place),
            "--coordinator: \"a b\"; expected host:port (not a host name)");
  flags.name = "a/b";
  EXPECT_THAT(ErrorOf(flags, Place()), HasSubstr("--name: \"a/b\"; expected"));
  flags = {};
  flags.labels = {"ssd"};
  EXPECT_EQ(ErrorOf(flags, Place()),
            "--label: \"ssd\"; expected KEY=VALUE without spaces");
  flags.labels = {"a=1", "a=2"};
  EXPECT_EQ(ErrorOf(flags, Place()),
            "--label: \"a=2\"; expected each key once");
  flags = {};
  flags.advertise = "host:80";
  EXPECT_EQ(ErrorOf(flags, Place()),
            "--advertise: \"host:80\"; expected a host without a port");
  flags = {};
  flags.data = {"/no/such/folder"};
  EXPECT_EQ(ErrorOf(flags, Place()),
            "--data: \"/no/such/folder\"; expected a folder");
  flags = {};
  flags.memory = "8 gibs";
  EXPECT_EQ(ErrorOf(flags, Place()),
            "--memory: \"8 gibs\"; expected a size such as 512MiB or 4GiB");
  for (const std::string text : {"0", "65TiB"}) {
    flags.memory = text;
    EXPECT_EQ(ErrorOf(flags, Place()),
              "--memory: \"" + text + "\"; expected above 0, at most 64TiB");
  }
}

}  // namespace
}  // namespace paceline
