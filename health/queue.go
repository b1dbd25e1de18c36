package health

import "time"

// turn is when a job is due. The time stands beside the pointer, so that
// sorting ten thousand jobs does not visit each of them in memory.
type turn struct {
	due time.Time
	job *job
}

// queue is a heap of waiting jobs, the next due first.
type queue []turn

func (q queue) Len() int           { return len(q) }
func (q queue) Less(a, b int) bool { return q[a].due.Before(q[b].due) }

func (q queue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].job.place, q[b].job.place = a, b
}

// Push is for container/heap.
func (q *queue) Push(x any) {
	t := x.(turn)
	t.job.place = len(*q)
	*q = append(*q, t)
}

// Pop is for container/heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = turn{}
	*q = (*q)[:last]
	t.job.place = -1
	return t
}
