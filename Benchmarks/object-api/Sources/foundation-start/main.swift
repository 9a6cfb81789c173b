// A program that has Foundation and nothing else: `object-api` starts it to see how much longer it takes itself.
import Foundation

exit(Data().isEmpty ? 0 : 1)
