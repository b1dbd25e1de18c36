package config

import (
	"bytes"
	"strings"

	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// environment lets variables override the scalar settings: GSLBD_LOG_LEVEL is
// log.level. An empty variable counts as absent. Variables of other names are
// not looked at, since container platforms put their own beside them.
func (r *reader) environment(data []byte, table []option) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil && len(r.problems) == 0 {
		r.syntax(data, err)
	}
	r.override(v, "", table)
}

// override applies the variables of one table and of the sections inside it.
func (r *reader) override(v *viper.Viper, prefix string, table []option) {
	for _, o := range table {
		path := prefix + o.name
		if o.sub != nil {
			r.override(v, path+".", o.sub)
		}
		if !o.env {
			continue
		}
		variable := variableOf(path)
		before := v.Get(path)
		if v.BindEnv(path, variable) != nil {
			continue
		}
		if after, ok := v.Get(path).(string); ok && after != before {
			if r.variables == nil {
				r.variables = map[string]string{}
			}
			r.variables[path] = variable
			o.set(r, field{path: path, env: variable, node: &yaml.Node{Kind: yaml.ScalarNode, Value: after}})
		}
	}
}

// variableOf gives the variable that overrides a setting.
func variableOf(path string) string {
	return "GSLBD_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}
