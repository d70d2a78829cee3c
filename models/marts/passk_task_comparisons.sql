{{ passk._compared_tasks() }}
