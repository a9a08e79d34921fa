// The program that the tests' precompiled header is made for: CMake wants one that has their flags.
int main() {}
