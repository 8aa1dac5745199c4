package schema

// graph is the edges of a machine over the numbers of its states; "" is a state of it where an edge
// has it.
type graph struct {
	ids        map[string]int32
	texts      []string
	next, prev [][]int32
}

func newGraph(edges []Edge) *graph {
	g := &graph{ids: make(map[string]int32)}
	for _, e := range edges {
		from, to := g.id(e.From), g.id(e.To)
		g.next[from] = append(g.next[from], to)
		g.prev[to] = append(g.prev[to], from)
	}
	return g
}

func (g *graph) id(text string) int32 {
	id, known := g.ids[text]
	if !known {
		id = int32(len(g.texts))
		g.ids[text] = id
		g.texts = append(g.texts, text)
		g.next = append(g.next, nil)
		g.prev = append(g.prev, nil)
	}
	return id
}

// reach is the states that can be reached over steps from one, itself among them.
func (g *graph) reach(steps [][]int32, from string) []bool {
	reached := make([]bool, len(g.texts))
	start, known := g.ids[from]
	if !known {
		return reached
	}
	reached[start] = true
	for queue := []int32{start}; len(queue) > 0; queue = queue[1:] {
		for _, s := range steps[queue[0]] {
			if !reached[s] {
				reached[s] = true
				queue = append(queue, s)
			}
		}
	}
	return reached
}

// cycle returns the states of a cycle, the first one again at the end; nil where there is none. It
// takes time linear in the edges, and no recursion.
func (g *graph) cycle() []string {
	const onPath, done = 1, 2
	mark := make([]int8, len(g.texts))
	tried := make([]int, len(g.texts)) // edges of next that were followed
	for start := range g.texts {
		if mark[start] != 0 {
			continue
		}
		path := []int32{int32(start)}
		mark[start] = onPath
		for len(path) > 0 {
			s := path[len(path)-1]
			if tried[s] == len(g.next[s]) {
				mark[s] = done
				path = path[:len(path)-1]
				continue
			}
			to := g.next[s][tried[s]]
			tried[s]++
			switch mark[to] {
			case onPath:
				return g.closed(path, to)
			case 0:
				mark[to] = onPath
				path = append(path, to)
			}
		}
	}
	return nil
}

// closed names the states of a path from where it meets itself.
func (g *graph) closed(path []int32, to int32) []string {
	for path[0] != to {
		path = path[1:]
	}
	var texts []string
	for _, s := range append(path, to) {
		texts = append(texts, g.texts[s])
	}
	return texts
}
