package slurm_test

import (
	"fmt"
	"log"
	"strings"

	"utvi/internal/slurm"
)

func ExampleConfig_Scripts() {
	c := slurm.Config{
		Name: "study", Trial: []string{"utvi", "sweep", "trial", "my plan.json"}, Collect: []string{"utvi", "sweep", "collect", "my plan.json"},
		Indices: []int{0, 1, 2, 3, 7}, MaxArraySize: 5, Restarts: 20,
	}
	scripts, err := c.Scripts()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scripts {
		fmt.Println("after", s.After)
		for line := range strings.Lines(s.Text) {
			if strings.Contains(line, "--array") || strings.HasPrefix(line, "utvi") {
				fmt.Print(line)
			}
		}
	}
	// Output:
	// after []
	// #SBATCH --array=0-3
	// utvi sweep trial 'my plan.json' --offset 0 &
	// after []
	// #SBATCH --array=2
	// utvi sweep trial 'my plan.json' --offset 5 &
	// after [0 1]
	// utvi sweep collect 'my plan.json'
}
