package occur

func (s *scanner) path(start, end int) {}
