{{ passk._compared() }}
