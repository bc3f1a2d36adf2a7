// Who holds a run: a process of a host, told from a later one with the same number by the time it
// started.
#pragma once

#include <string>

namespace boba::store {

// {"host":"...","pid":123,"start":"456"} of this process.
std::string this_process();

// Whether the owner may still be at work. idle is how long ago it last wrote, in seconds: all that
// can be known of a process of another host, which is given up after an hour.
bool is_alive(const std::string& owner, double idle);

}  // namespace boba::store
