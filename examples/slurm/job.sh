#!/bin/sh
# A job that is told two minutes before its time is up, keeps where it is, and is queued again until it is done.
#SBATCH --job-name=density
#SBATCH --ntasks=64
#SBATCH --time=01:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append

stopped=75 # plait: stopped, can be resumed

# srun hands the signal on to its ranks; a plain shell would only look at it after the command.
srun plait purify H.npy --electrons 20000 -o D.npy --checkpoint C.json --resume
status=$?
[ "$status" -eq "$stopped" ] && exec scontrol requeue "$SLURM_JOB_ID"
exit "$status"
