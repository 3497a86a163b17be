//! Heureka.
