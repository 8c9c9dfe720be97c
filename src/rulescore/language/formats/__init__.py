"""Rule files of other tools, to syntax trees and back: one module a format."""
