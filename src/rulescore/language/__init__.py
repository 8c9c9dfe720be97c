"""Text to syntax trees and back."""
