// Files that outlive a power cut: their numbers reach the disk before their name does, and the name
// reaches it too. Every file that boba writes under another name first goes through here.
#pragma once

#include <string>

namespace boba {

// Both return false, with errno set, where the system fails.

// Writes what was put into the file to the disk. Devices and pipes have none, and succeed.
bool sync_file(int descriptor);

// Gives a file that was synced its name, and writes the folder: after a power cut the name stands
// for the whole old file or for the whole new one.
bool rename_durably(const std::string& from, const std::string& to);

}  // namespace boba
