// Short sounds of seeds, generated here: no file is loaded.

import { settings } from "./settings.js";

/** @type {AudioContext | undefined} */
let audio;

/** Plays a knock of this pitch in hertz, unless sounds are off. */
export function knock(pitch = 320) {
  if (!settings.sounds) return;
  audio ??= new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.type = "triangle";
  tone.frequency.setValueAtTime(pitch, audio.currentTime);
  volume.gain.setValueAtTime(0.15, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.09);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.1);
}
